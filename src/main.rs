//! The `obverse` binary: arguments in, exit status out. Everything else is [`cli`] and the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main().into()
}
