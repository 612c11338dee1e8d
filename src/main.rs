//! The `obverse` binary: arguments in, exit status out. Everything else is in the library.

// Deriving allocates small values by the million, which this allocator is quicker with than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    obverse::cli::run(std::env::args_os()).into()
}
