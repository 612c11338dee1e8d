//! `obverse schema`: the JSON Schemas of the files that are read and written here.

use clap::ValueEnum;

use super::output;
use super::status::Status;
use super::stop::Stop;

/// Print the JSON Schema of a file, by which editors complete and check it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the format that the schema describes
    #[arg(value_enum)]
    of: Of,
}

/// The formats that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    /// A response template; somewhat stricter than transformers, which takes any value that is true or false to Python for a flag
    ResponseTemplate,
    /// A response schema, the older form of transformers 5.0 to 5.14
    ResponseSchema,
    /// A grammar, which peg reads with, and parse
    Grammar,
    /// obverse.toml
    ObverseToml,
    /// A line of a .jsonl suite of fixtures
    Fixture,
    /// expected.json of a fixture
    Message,
    /// error.json of a fixture
    Error,
    /// unclaimed.json of a fixture
    Unclaimed,
    /// messages.json of a fixture
    Messages,
    /// tools.json of a fixture, and what --tools takes
    Tools,
    /// chunks.json of a fixture
    Chunks,
    /// A line of events.jsonl of a fixture
    Event,
    /// Report that --format json writes
    Report,
    /// The report of a derivation
    Derivation,
    /// A conversation format, which derive --conversation writes and read takes
    ConversationFormat,
    /// The report of derive --conversation
    ConversationDerivation,
    /// A conversation that was read back, as read writes it
    Conversation,
    /// Render with its origins, as render --origins writes it
    Origins,
    /// Spans of a conversation, as spans writes them
    Spans,
    /// Pending changes, as review --format json writes them
    Review,
    /// New fixtures, as new --format json writes them
    New,
    /// A file for a folder, as init --format json tells it
    Init,
    /// A recorded response, as record --format json tells it
    Recording,
    /// The folder of a pull request, as propose --format json tells it
    Proposal,
    /// The outcome for each model of a list, as derive --hub-list keeps it
    HubList,
    /// The report of convert
    Conversion,
    /// A marked chat template, as annotate --format json writes it
    Annotation,
    /// A session of the debugger, which debug --record writes
    Session,
    /// The page of a code, as explain --format json writes it, or those of several
    Explanation,
    /// Failure of a verb, as --format json writes it in the place of a result
    Failure,
}

impl Of {
    fn text(self) -> &'static str {
        match self {
            Self::ResponseTemplate => include_str!("../../schemas/response-template.json"),
            Self::ResponseSchema => include_str!("../../schemas/response-schema.json"),
            Self::Grammar => include_str!("../../schemas/grammar.json"),
            Self::ObverseToml => include_str!("../../schemas/obverse-toml.json"),
            Self::Fixture => include_str!("../../schemas/fixture.json"),
            Self::Message => include_str!("../../schemas/message.json"),
            Self::Error => include_str!("../../schemas/error.json"),
            Self::Unclaimed => include_str!("../../schemas/unclaimed.json"),
            Self::Messages => include_str!("../../schemas/messages.json"),
            Self::Tools => include_str!("../../schemas/tools.json"),
            Self::Chunks => include_str!("../../schemas/chunks.json"),
            Self::Event => include_str!("../../schemas/event.json"),
            Self::Report => include_str!("../../schemas/report.json"),
            Self::Derivation => include_str!("../../schemas/derivation.json"),
            Self::ConversationFormat => include_str!("../../schemas/conversation-format.json"),
            Self::ConversationDerivation => {
                include_str!("../../schemas/conversation-derivation.json")
            }
            Self::Conversation => include_str!("../../schemas/conversation.json"),
            Self::Origins => include_str!("../../schemas/origins.json"),
            Self::Spans => include_str!("../../schemas/spans.json"),
            Self::Review => include_str!("../../schemas/review.json"),
            Self::New => include_str!("../../schemas/new.json"),
            Self::Init => include_str!("../../schemas/init.json"),
            Self::Recording => include_str!("../../schemas/recording.json"),
            Self::Proposal => include_str!("../../schemas/proposal.json"),
            Self::HubList => include_str!("../../schemas/hub-list.json"),
            Self::Conversion => include_str!("../../schemas/conversion.json"),
            Self::Annotation => include_str!("../../schemas/annotation.json"),
            Self::Session => include_str!("../../schemas/session.json"),
            Self::Explanation => include_str!("../../schemas/explanation.json"),
            Self::Failure => include_str!("../../schemas/failure.json"),
        }
    }
}

/// Prints.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    output::print_text(args.of.text())?;
    Ok(Status::Done)
}
