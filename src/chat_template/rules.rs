//! Where renderers of chat templates differ.

/// The rules to render by. The default is what transformers 5.23 does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rules {
    /// True if keys of a message that are null stay in it. transformers 5.23 drops them; earlier ones, llama.cpp and other
    /// servers keep them.
    pub keep_nulls: bool,
    /// True if the methods that change a list or a dictionary may be called: `append`, `extend`, `insert`, `pop`, `remove`,
    /// `clear`, `reverse` and `sort` of a list, `update`, `pop`, `setdefault`, `clear` and `popitem` of a dictionary.
    /// transformers refuses them; Jinja2's own sandbox and most servers do not.
    pub list_methods: bool,
}
