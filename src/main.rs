//! The `obverse` binary: arguments in, exit status out. Everything else is in the library.

fn main() -> std::process::ExitCode {
    obverse::cli::run(std::env::args_os()).into()
}
