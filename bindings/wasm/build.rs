//! The stack of the module: templates may nest deeply, and the linker's own megabyte is soon used up.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-zstack-size=8388608");
}
