//! `include/kvcore.h` is what the source says. `KVC_BLESS=1` writes it anew.

use std::{env, fs, path::Path};

/// What the generator has no words for: inline functions and macros with parameters.
const INLINE: &str = r"
// Where a uint64_t may be aligned to 4 bytes (i386), the compiler is asked for KVC_ALIGN.
#if defined(__GNUC__)
#define KVC_ALIGNED __attribute__((aligned(KVC_ALIGN)))
#else
#define KVC_ALIGNED
#endif

// A static buffer for a cache or a registry: KVC_STORAGE(my_cache, KVC_SEQUENCE_BYTES_FOR(34));
#define KVC_STORAGE(name, bytes) static uint64_t name[((bytes) + 7u) / 8u] KVC_ALIGNED

// Bytes of storage of a one-sequence cache of n_layers layers, as a constant expression. The same as
// kvc_sequence_size answers.
#define KVC_SEQUENCE_BYTES_FOR(n_layers) \
  ((16u + 16u * sizeof(void *) + 288u + 2u * (size_t)(n_layers) + 7u) / 8u * 8u)

// A config with struct_size set, initial_capacity 512 and the rest 0.
static inline kvc_config_t kvc_config_default(void) {
  kvc_config_t config = {0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL};
  config.struct_size = (uint32_t)sizeof(kvc_config_t);
  config.initial_capacity = 512u;
  return config;
}

// Whether this header and the library belong together.
static inline bool kvc_check_header(void) { return KVC_ABI_VERSION == kvc_abi_version(); }
";

fn generate(root: &Path) -> String {
    let config = cbindgen::Config::from_root_or_default(root);
    let bindings = cbindgen::Builder::new().with_crate(root).with_config(config).generate();
    let mut header = Vec::new();
    bindings.expect("the source parses").write(&mut header);
    finish(&String::from_utf8(header).expect("a header is text"))
}

/// Gives unsigned constants their `u`, drops what is for Rust readers from the comments, puts the inline part
/// inside the guard and the C++ brackets.
fn finish(header: &str) -> String {
    let mut out = Vec::new();
    let (mut in_example, mut lines) = (false, header.lines().peekable());
    while let Some(line) = lines.next() {
        let comment = line.trim_start().strip_prefix("//").map(str::trim);
        let edge = comment.is_some_and(|text| text.starts_with("```") || text == "# Safety");
        in_example ^= edge && comment != Some("# Safety");
        if edge || in_example {
            continue;
        }
        if line.starts_with("#ifdef __cplusplus") && lines.peek().is_some_and(|next| next.starts_with('}')) {
            out.extend(INLINE.trim_start().lines().map(str::to_owned));
            out.push(String::new());
        }
        if comment.is_none() {
            // What preceded an example or the safety section was a blank comment line.
            while out.last().is_some_and(|last: &String| last.trim() == "//") {
                out.pop();
            }
        }
        if line.is_empty() && out.last().is_some_and(String::is_empty) {
            continue;
        }
        out.push(if comment.is_some() { c_words(line) } else { constant(line) });
    }
    out.join("\n") + "\n"
}

/// Rust's names in a comment, as C has them.
fn c_words(line: &str) -> String {
    line.replace("[`crate::", "[`")
        .replace("[`", "`KVC_")
        .replace("`]", "`")
        .replace("`MASK_…`", "`KVC_MASK_…`")
}

fn constant(line: &str) -> String {
    let unsigned = |name: &str| !name.starts_with("KVC_ERR_") && name != "KVC_OK" && name != "KVCORE_H";
    match line.strip_prefix("#define ").and_then(|rest| rest.split_once(' ')) {
        Some((name, value)) if unsigned(name) && value != "4294967295" => format!("#define {name} {value}u"),
        Some((name, "4294967295")) => format!("#define {name} UINT32_MAX"),
        _ => line.to_owned(),
    }
}

#[test]
fn the_header_is_what_the_source_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include/kvcore.h");
    let header = generate(root);
    if env::var_os("KVC_BLESS").is_some() {
        fs::write(&path, &header).expect("the header can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(header.lines()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "run KVC_BLESS=1 cargo test --test header");
    assert_eq!(committed, header, "run KVC_BLESS=1 cargo test --test header");
}
