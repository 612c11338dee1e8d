//! `obverse serve`: a chat server in front of one that writes raw completions.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use obverse::derive::{self, Derivation, DeriveError, Verdict};
use obverse::diagnostic::{Diagnostic, Severity};
use obverse::grammar::WrittenFormat;
use obverse::hub::Wanted;
use obverse::serve::{self, Config, Constraint, Manner, Model, Notice, TakesGrammar, Upstream};
use obverse::value::Value;

use super::derive::file_stem;
use super::input::{self, Size};
use super::problem::Problem;
use super::source::{Opened, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::{escape, grammar, hub, output, render, template};

/// Serve chat completions in front of a server that writes raw ones
///
/// Renders each conversation with the chat template of --model, has the upstream server write on after it, parses what it writes with the
/// response template that is derived from the chat template (or with --template), and streams what the message grows by: text,
/// reasoning, and calls with their arguments as they are written. The upstream needs /v1/completions with "stream": vLLM, SGLang,
/// llama.cpp and TGI have it.
///
/// Answers POST /v1/chat/completions, /v1/responses and /v1/messages (streamed or not), GET /v1/models and /health. It ends on an interrupt or
/// a termination, once what is being answered is answered or --grace is over.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server that writes: the base URL of its OpenAI-compatible interface, such as http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL")]
    upstream: String,

    /// Where the chat template is: a .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or a model in the cache of the Hub
    #[arg(long, value_name = "SOURCE")]
    model: PathBuf,

    /// The response template to parse with, instead of the one that the source holds or that is derived from its chat template
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// The address and port to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// The model's name to clients, otherwise the source's; whatever name they ask for is answered
    #[arg(long)]
    name: Option<String>,

    /// The key that clients must show; needed where other machines can reach the server
    #[arg(long, value_name = "KEY", conflicts_with = "api_key_env")]
    api_key: Option<String>,

    /// The environment variable that holds that key, which is then seen by nobody who lists processes
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,

    /// Keep every exchange as a fixture below this folder, with the prompt and the chunks in which it arrived: `obverse check DIR` runs them
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// Send calls and their arguments only when they are whole
    #[arg(long)]
    certain: bool,

    /// How the upstream takes a grammar: vllm, sglang, llama.cpp, or a member of the request and a language, such as structured_outputs.grammar=lark. Forced and strict calls and formats of answers are then asked of the model
    #[arg(long, value_name = "HOW", help_heading = UPSTREAM)]
    grammar: Option<TakesGrammar>,

    #[command(flatten)]
    source: SourceArgs,

    /// The model's name on the upstream server, which otherwise is asked for it
    #[arg(long, value_name = "NAME", help_heading = UPSTREAM)]
    upstream_model: Option<String>,

    /// The environment variable that holds the key to the upstream server
    #[arg(long, value_name = "NAME", help_heading = UPSTREAM)]
    upstream_key_env: Option<String>,

    /// A further field of what the upstream is asked, such as top_k=20; null leaves one out
    #[arg(long = "field", value_name = "K=JSON", value_parser = render::kwarg, help_heading = UPSTREAM)]
    fields: Vec<(String, Value)>,

    /// How many tokens to write at most, where a client does not say
    #[arg(long, value_name = "N", default_value_t = 4096, help_heading = LIMITS)]
    max_tokens: u32,

    /// How long a request may be: bytes, or 512K, 64M, 2G
    #[arg(long, value_name = "SIZE", default_value_t = Size(16 << 20), help_heading = LIMITS)]
    max_request: Size,

    /// How long a response may be
    #[arg(long, value_name = "SIZE", default_value_t = Size(64 << 20), help_heading = LIMITS)]
    max_response: Size,

    /// How many requests are answered at the same time
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..), help_heading = LIMITS)]
    max_exchanges: u32,

    /// For how many seconds the upstream may say nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 120, help_heading = LIMITS)]
    timeout: u64,

    /// How many seconds an exchange may last
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, help_heading = LIMITS)]
    lasting: u64,

    /// How many seconds exchanges may go on once the server is to end
    #[arg(long, value_name = "SECONDS", default_value_t = 10, help_heading = LIMITS)]
    grace: u64,
}

const UPSTREAM: &str = "What the upstream is asked";
const LIMITS: &str = "Limits";

const EXAMPLES: &str = "\
Examples:
  obverse serve --upstream http://127.0.0.1:8000/v1 --model models/qwen3
  obverse serve --upstream http://127.0.0.1:8000/v1 --model chat.jinja --template response_template.json --record exchanges
  obverse serve --upstream http://127.0.0.1:8000/v1 --model models/qwen3 --grammar vllm
  obverse serve --upstream http://gpu:8000/v1 --model qwen3.gguf --listen 0.0.0.0:8080 --api-key-env API_KEY";

/// Serves until it is told to end.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let api_key = match (&args.api_key, &args.api_key_env) {
        (Some(key), _) if key.is_empty() => {
            return Err(
                Problem::failed("no-key", "the key that clients must show is empty").into(),
            );
        }
        (Some(key), _) => Some(key.clone()),
        (None, Some(name)) => Some(key_from(name)?),
        (None, None) => None,
    };
    if api_key.is_none() && !args.listen.ip().is_loopback() {
        let message = format!("at {} other machines can reach the server", args.listen);
        let hint = "give the key that clients must show with --api-key-env, or listen at 127.0.0.1";
        return Err(Problem::failed("no-key", message).with_hint(hint).into());
    }
    let upstream_key = args.upstream_key_env.as_deref().map(key_from).transpose()?;
    let upstream = Upstream::new(
        &args.upstream,
        upstream_key.as_deref(),
        args.upstream_model.clone(),
    );
    let upstream = upstream.map_err(|wrong| {
        Problem::failed("usage", wrong.to_string())
            .with_hint("give the base URL of the server, such as http://127.0.0.1:8000/v1")
    })?;
    let model = model(args)?;
    let config = config(args, api_key);
    // Before anybody is told that it serves, for from then on clients come.
    raise_file_limit(u64::from(args.max_exchanges));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Problem::failed("unserved", format!("cannot begin: {error}")))?;
    let served = runtime.block_on(async {
        let listener = serve::listen(args.listen).map_err(|error| {
            let message = format!("cannot listen at {}: {error}", args.listen);
            Problem::failed("unserved", message)
                .with_hint("take another port with --listen; port 0 is a free one")
        })?;
        let address = listener.local_addr().unwrap_or(args.listen);
        output::tell(&format!(
            "serving {} at http://{address}/v1, written by {}\n",
            escape::line(&model.name),
            escape::line(&args.upstream)
        ));
        let tell = Arc::new(tell);
        serve::serve(listener, model, upstream, config, told_to_end(), tell)
            .await
            .map_err(|error| Problem::failed("unserved", format!("cannot serve: {error}")))
    });
    // Renders that are still under way are not waited for.
    runtime.shutdown_background();
    served?;
    Ok(Status::Done)
}

/// Has the system let the process keep as many files open as its exchanges need: a connection from the client and one to the upstream each,
/// and a file where they are recorded. Many systems begin with 1024 for what asks for no more.
fn raise_file_limit(exchanges: u64) {
    let needed = exchanges * 3 + 64;
    // Where nothing is known of a limit, nothing is said of one.
    let Ok(limit) = rlimit::increase_nofile_limit(needed) else {
        return;
    };
    if limit < needed {
        let message = format!(
            "{exchanges} requests at the same time may need {needed} open files, and the system allows {limit}"
        );
        let diagnostic = Diagnostic::warning("few-files", message);
        let hint = "raise the limit (`ulimit -Hn`, or LimitNOFILE= of a systemd unit), or lower --max-exchanges";
        Problem::of(diagnostic).with_hint(hint).show();
    }
}

/// Tells the operator.
fn tell(notice: Notice) {
    let text = escape::line(&notice.to_string()).into_owned();
    match notice {
        // These come with every exchange, and matter to who looks into one.
        Notice::Left { .. } => output::detail(|| text),
        _ => output::tell(&(text + "\n")),
    }
}

fn key_from(name: &str) -> Result<String, Problem> {
    match std::env::var(name) {
        Ok(key) if !key.is_empty() => Ok(key),
        _ => {
            let name = escape::line(name);
            let message = format!("the environment variable {name} holds no key");
            Err(Problem::failed("no-key", message))
        }
    }
}

fn config(args: &Args, api_key: Option<String>) -> Config {
    let bytes = |size: Size| usize::try_from(size.0).unwrap_or(usize::MAX);
    let mut config = Config::default();
    config.api_key = api_key;
    config.record.clone_from(&args.record);
    config.certain = args.certain;
    config.max_tokens = args.max_tokens;
    config.fields = args.fields.iter().cloned().collect();
    config.limits.request_bytes = bytes(args.max_request);
    config.limits.response_bytes = bytes(args.max_response);
    config.limits.exchanges = args.max_exchanges as usize;
    config.limits.silence = Duration::from_secs(args.timeout);
    config.limits.lasting = Duration::from_secs(args.lasting);
    config.limits.grace = Duration::from_secs(args.grace);
    config
}

/// The chat template, and the response template: the one that is given, the one that the source holds, or the one that is derived.
fn model(args: &Args) -> Result<Model, Problem> {
    let opened = args.source.open(&args.model)?;
    if let Some(text) = opened.assumption(&obverse::value::Map::new()) {
        let mut diagnostic = Diagnostic::error("assumed-special-token", text);
        diagnostic.severity = Severity::Info;
        Problem::of(diagnostic).show();
    }
    let name = args.name.clone();
    let name = name.unwrap_or_else(|| file_stem(&opened.source));
    let mut manner = Manner::default();
    let mut derivation = None;
    let document = match &args.template {
        Some(path) => {
            let given = template::open(path)?;
            output::tell(&format!("parsing with {}\n", input::name(&given.file)));
            given.loaded.document
        }
        None => match &opened.source.response_template {
            Some(held) => {
                output::tell("parsing with the response template that the source holds\n");
                held.clone()
            }
            None => {
                let derived = derived(args, &opened)?;
                manner = Manner::of(&derived.report);
                tell_proof(args, &derived);
                derivation.insert(derived).document.to_value()
            }
        },
    };
    let derivation = match (&args.grammar, derivation) {
        (Some(_), None) => Some(derived(args, &opened)?),
        (_, derivation) => derivation,
    };
    let mut model = Model::new(name, opened.source, &document)
        .map_err(|invalid| template::refused(&args.model, document_text(&document), invalid))?;
    model.manner = manner;
    model.clock = args.source.date;
    if let (Some(takes), Some(derivation)) = (&args.grammar, derivation) {
        let end_tokens = &model.chat.tokens.end;
        let written = WrittenFormat::new(model.template.template(), &derivation.cases, end_tokens);
        let cached = hub::folder(&args.model, Wanted::Tokenizer)?;
        let tokenizer = cached
            .as_ref()
            .unwrap_or(&args.model)
            .join("tokenizer.json");
        let special = match tokenizer.is_file() {
            true => grammar::special_tokens(&tokenizer)?,
            false => Vec::new(),
        };
        model.constraint = Some(Constraint::new(written, takes.clone(), special));
    }
    Ok(model)
}

fn document_text(document: &Value) -> String {
    super::wire::pretty(document)
}

/// Derives the response template.
fn derived(args: &Args, opened: &Opened) -> Result<Derivation, Problem> {
    if io::stderr().is_terminal() {
        output::tell("deriving the response template from the chat template\n");
    }
    let options = derive::Options::default().clock(args.source.date);
    derive::derive(&opened.source, &options)
        .map_err(|error: DeriveError| super::derive::derive_problem(&error, opened))
}

/// Tells how well the response template that is derived is proved. One that is not serves too.
fn tell_proof(args: &Args, derivation: &Derivation) {
    if derivation.report.verdict == Verdict::Proved {
        output::tell("parsing with the response template that is derived, which is proved\n");
    } else {
        let rounds = derivation.report.rounds;
        let message = format!(
            "the response template that is derived is not wholly proved: {} of {} messages came back",
            rounds.passed,
            rounds.passed + rounds.failed
        );
        let mut diagnostic = Diagnostic::warning("not-proved", message);
        let source = super::quoted::as_argument(&args.model);
        diagnostic.hint = Some(format!(
            "`obverse derive {source}` says what does not; give a response template with --template"
        ));
        Problem::of(diagnostic).show();
    }
}

/// Done when the process is told to end.
async fn told_to_end() {
    let interrupted = async {
        // Where no interrupt can be heard of, none comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut ended) = signal(SignalKind::terminate()) else {
            return interrupted.await;
        };
        tokio::select! {
            () = interrupted => {}
            _ = ended.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
}
