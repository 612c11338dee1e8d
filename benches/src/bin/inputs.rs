//! Writes the inputs to a folder, for parsers that run in processes of their own: `inputs FOLDER`.

use std::path::Path;

use obverse_benches::inputs::INPUTS;
use obverse_benches::{SIZES, size_name};

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: inputs FOLDER");
        std::process::exit(2);
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for input in &INPUTS {
        std::fs::write(folder.join(format!("{}.json", input.name)), input.template)?;
        for size in SIZES {
            let name = format!("{}.{}.txt", input.name, size_name(size));
            std::fs::write(folder.join(name), (input.write)(size))?;
        }
    }
    Ok(())
}
