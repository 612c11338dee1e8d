//! The script in the text of a proposed pull request, run with transformers.

use std::path::Path;
use std::process::Command;

use crate::support::reference::python;

/// Runs the script of the text with the response template of the configuration, in the place of a tokenizer from the Hub.
const RUN: &str = r##"
import json, re, sys
import transformers
from transformers.utils.chat_parsing import parse_response

template = json.load(open(sys.argv[1] + "/tokenizer_config.json"))["response_template"]

class Tokenizer:
    @staticmethod
    def from_pretrained(name, revision):
        assert (name, revision) == ("org/kite", "refs/pr/N")
        return Tokenizer()

    def parse_response(self, response, prefix, tools=None):
        return parse_response(response, template, prefix=prefix, tools=tools)

transformers.AutoTokenizer = Tokenizer
text = open(sys.argv[1] + "/PULL_REQUEST.md").read()
script = re.search(r"(`{3,})python\n(.*?)\n\1\n", text, re.S)[2]
print(script.splitlines()[-1].removeprefix("# "))
exec(script)
"##;

#[test]
fn the_script_of_a_proposal_prints_the_message_that_it_says() {
    let Some(python) = python() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["qwen3_coder", "gpt_oss", "lfm2_5"] {
        let folder = tempfile::tempdir().expect("a folder");
        let model = folder.path().join("model");
        std::fs::create_dir(&model).expect("a folder");
        let chat = std::fs::read_to_string(root.join(format!("chat_templates/{name}.jinja")));
        let config = serde_json::json!({
            "chat_template": chat.expect("a file"), "bos_token": "<s>", "eos_token": "</s>",
        });
        std::fs::write(model.join("tokenizer_config.json"), config.to_string()).expect("a file");
        let run = Command::new(env!("CARGO_BIN_EXE_obverse"))
            .current_dir(folder.path())
            .args([
                "propose",
                "model",
                "--model",
                "org/kite",
                "--out-dir",
                "out",
            ])
            .output()
            .expect("the binary runs");
        assert!(
            run.status.code() < Some(2),
            "{name}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        let told = Command::new(&python)
            .arg("-c")
            .arg(RUN)
            .arg(folder.path().join("out"))
            .output()
            .expect("the reference runs");
        let printed = String::from_utf8_lossy(&told.stdout).into_owned();
        let lines: Vec<&str> = printed.lines().collect();
        let [said, printed] = lines[..] else {
            panic!("{name}: {printed}{}", String::from_utf8_lossy(&told.stderr));
        };
        assert_eq!(said, printed, "{name}");
    }
}
