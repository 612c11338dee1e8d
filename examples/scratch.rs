use obverse::{
    chat_template, derive,
    value::{Map, Value},
};
fn main() {
    for path in std::env::args().skip(1) {
        let verbose = std::env::var("V").is_ok();
        let mut source = match chat_template::load(std::path::Path::new(&path)) {
            Ok(s) => s,
            Err(e) => {
                println!("LOAD {path}: {e}");
                continue;
            }
        };
        let tokens: Map = [("bos_token", "<s>"), ("eos_token", "</s>")]
            .into_iter()
            .map(|(k, v)| (k.to_owned(), Value::from(v)))
            .collect();
        for (_, t) in &mut source.templates {
            *t = t.clone().with_special_tokens(tokens.clone());
        }
        source.special_tokens = tokens;
        let t0 = std::time::Instant::now();
        match derive::derive(&source, &derive::Options::default()) {
            Ok(d) => {
                println!(
                    "{} {} {:?} {:?} anchor={:?} r={:?}|{}|{}|{:?}|{:?} c={:?} t={:?}|{}|{}|{}|{}",
                    if d.report.verified { "ok  " } else { "FAIL" },
                    source.name,
                    d.report.rounds,
                    t0.elapsed(),
                    d.report.start_anchor,
                    d.report.reasoning.mode,
                    d.report.reasoning.open,
                    d.report.reasoning.close,
                    d.report.reasoning.opened_by,
                    d.report.reasoning.history,
                    d.report.content,
                    d.report.tools.mode,
                    d.report.tools.section_open,
                    d.report.tools.open,
                    d.report.tools.close,
                    d.report.tools.section_close
                );
                if verbose {
                    println!("{}", d.document.to_json());
                    println!(
                        "{}",
                        serde_json::to_string_pretty(&d.report.findings).unwrap()
                    );
                    println!("{:?}", d.report.supports);
                }
            }
            Err(e) => println!("ERR  {}: {e}", source.name),
        }
    }
}
