//! The structs and numbers of `include/kvcore.h` are those of the Rust source: each struct of the header is laid
//! out here by the rules of C, field by field, and compared with what Rust made of it.

use std::collections::HashMap;
use std::mem::offset_of;

use kvcore::{
    CellStep, Error, Event, ExternalTable, Layer, LayerInfo, Move, RawConfig, Run, SeqPlan, Shift, Span,
};

const HEADER: &str = include_str!("../include/kvcore.h");
const WORD: usize = size_of::<*const u8>();

/// Size, alignment, and the offset of each field.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    size: usize,
    align: usize,
    fields: Vec<(String, usize)>,
}

/// The header without its comments.
fn code() -> String {
    let without_lines: String =
        HEADER.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    let mut code = String::new();
    for (at, part) in without_lines.split("/*").enumerate() {
        let kept = if at == 0 { part } else { part.split_once("*/").expect("a comment ends").1 };
        code.push_str(kept);
    }
    code
}

fn defines(code: &str) -> HashMap<&str, i64> {
    code.lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .filter_map(|(name, value)| {
            let value = value.trim().trim_end_matches('u').replace("UINT32_MAX", "4294967295");
            Some((name, value.parse().ok()?))
        })
        .collect()
}

/// Every struct of the header.
fn structs(code: &str) -> HashMap<String, Shape> {
    let defines = defines(code);
    let mut shapes: HashMap<String, Shape> = HashMap::new();
    for text in code.split("typedef struct {").skip(1) {
        let (body, rest) = text.split_once("\n}").expect("a struct ends");
        let name = rest.split_once(';').expect("a struct has a name").0.trim();
        let mut shape = Shape { size: 0, align: 1, fields: Vec::new() };
        for field in body.split(';').map(str::trim).filter(|field| !field.is_empty()) {
            let (name, size, align) = field_of(field, &shapes, &defines);
            let offset = shape.size.next_multiple_of(align);
            shape.fields.push((name, offset));
            shape.size = offset + size;
            shape.align = shape.align.max(align);
        }
        shape.size = shape.size.next_multiple_of(shape.align);
        assert!(shapes.insert(name.to_owned(), shape).is_none(), "{name} twice");
    }
    shapes
}

/// Name, size and alignment of a field, declared as `type name`, `type name[n]` or `type (*name)(…)`.
fn field_of(
    field: &str,
    shapes: &HashMap<String, Shape>,
    defines: &HashMap<&str, i64>,
) -> (String, usize, usize) {
    if let Some((_, rest)) = field.split_once("(*") {
        let (name, _) = rest.split_once(')').expect("a function has a name");
        return (name.to_owned(), WORD, WORD);
    }
    let (declared, length) = match field.split_once('[') {
        Some((declared, length)) => {
            let length = length.trim_end_matches(']');
            let number = length.parse().ok().or_else(|| defines.get(length).copied());
            (declared, usize::try_from(number.expect("a number")).expect("a length"))
        }
        None => (field, 1),
    };
    let (kind, name) = declared.rsplit_once([' ', '*']).expect("a type and a name");
    let (size, align) = match kind.trim() {
        _ if declared.contains('*') => (WORD, WORD),
        "uint32_t" | "int32_t" => (4, 4),
        "uint64_t" => (8, align_of::<u64>()),
        "char" => (1, 1),
        other => shapes.get(other).map(|shape| (shape.size, shape.align)).expect("a struct of before"),
    };
    (name.to_owned(), size * length, align)
}

macro_rules! shape {
    ($type:ty: $($field:ident)*) => {
        Shape {
            size: size_of::<$type>(),
            align: align_of::<$type>(),
            fields: vec![$((stringify!($field).to_owned(), offset_of!($type, $field))),*],
        }
    };
}

fn rust_shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("kvc_layer_t", shape!(Layer: kind window sinks n_kv_heads head_dim shares_with)),
        (
            "kvc_config_t",
            shape!(RawConfig: struct_size capacity n_layers n_layer_entries layers max_write rollback
                max_context initial_capacity kv_dtype max_seqs block_size max_blocks_per_seq watermark flags
                user),
        ),
        ("kvc_layer_info_t", shape!(LayerInfo: layer group rows max_write)),
        ("kvc_run_t", shape!(Run: start len pos)),
        (
            "kvc_seq_plan_t",
            shape!(SeqPlan: write read n_write n_read position n_tokens read_len rows_needed mask window sinks
                group epoch),
        ),
        ("kvc_cell_step_t", shape!(CellStep: mask n_tokens read_len write_start)),
        ("kvc_shift_t", shape!(Shift: row len delta)),
        ("kvc_move_t", shape!(Move: from to len)),
        ("kvc_span_t", shape!(Span: seq n_tokens plan)),
        (
            "kvc_external_t",
            shape!(ExternalTable: struct_size kind capacity clear can_extend length rewind rewind_floor
                seq_plan seq_plan_step seq_commit batch_declare_step batch_can_admit batch_seq_new
                batch_seq_clone batch_seq_remove batch_seq_release batch_seq_keep batch_seq_shift batch_rewind
                batch_seq_len batch_next_pos batch_first_pos batch_free_rows cells_place_step
                cells_mask_bytes cells_mask_bits cells_shifts cells_shifts_done cells_defrag
                rows_place_step),
        ),
        #[cfg(feature = "capi")]
        ("kvc_session_t", shape!(kvcore::capi::registry::RawSession: registry id key)),
    ]
}

#[test]
fn structs_are_laid_out_alike() {
    let mut in_header = structs(&code());
    for (name, shape) in rust_shapes() {
        assert_eq!(in_header.remove(name), Some(shape), "{name}");
    }
    let known_elsewhere = usize::from(!cfg!(feature = "capi"));
    assert_eq!(in_header.len(), known_elsewhere, "structs that nobody compared: {:?}", in_header.keys());
}

/// Sizes are part of the ABI version: they do not change, whatever header and source agree on.
#[test]
fn sizes_stay() {
    let expected = [
        ("kvc_layer_t", 24),
        ("kvc_config_t", 56 + 2 * WORD),
        ("kvc_layer_info_t", 36),
        ("kvc_run_t", 12),
        ("kvc_seq_plan_t", 104),
        ("kvc_cell_step_t", 16),
        ("kvc_shift_t", 12),
        ("kvc_move_t", 12),
        ("kvc_span_t", 112),
        ("kvc_external_t", 8 + 29 * WORD),
        ("kvc_session_t", 80),
    ];
    let in_header = structs(&code());
    assert_eq!(in_header.len(), expected.len());
    for (name, size) in expected {
        assert_eq!(in_header[name].size, size, "{name}");
    }
}

fn limit(limit: usize) -> i64 {
    i64::try_from(limit).expect("a small limit")
}

#[test]
fn numbers_are_the_same() {
    let code = code();
    let defines = defines(&code);
    let statuses = defines.iter().filter(|(name, _)| name.starts_with("KVC_ERR_"));
    let mut n_statuses = 0;
    for (name, value) in statuses {
        let error = i32::try_from(*value).ok().and_then(Error::from_code);
        assert_eq!(error.map(Error::name), Some(*name));
        n_statuses += 1;
    }
    assert_eq!((n_statuses, defines["KVC_OK"]), (23, 0));
    let numbers = [
        ("KVC_ABI_VERSION", 1),
        ("KVC_ALIGN", 8),
        ("KVC_UNBOUNDED", kvcore::UNBOUNDED.into()),
        ("KVC_MAX_NAME", limit(kvcore::limits::MAX_NAME)),
        ("KVC_KEY_BYTES", limit(kvcore::name::KEY_BYTES)),
        ("KVC_MAX_GROUPS", limit(kvcore::limits::MAX_GROUPS)),
        ("KVC_MAX_FACES", limit(kvcore::limits::MAX_FACES)),
        ("KVC_MAX_LAYERS", limit(kvcore::limits::MAX_LAYERS)),
        ("KVC_LAYER_FLAT", kvcore::LAYER_FLAT.into()),
        ("KVC_LAYER_RING", kvcore::LAYER_RING.into()),
        ("KVC_KIND_SEQUENCE", kvcore::KIND_SEQUENCE.into()),
        ("KVC_MASK_NONE", kvcore::MASK_NONE.into()),
        ("KVC_MASK_CAUSAL", kvcore::MASK_CAUSAL.into()),
        ("KVC_MASK_WINDOW", kvcore::MASK_WINDOW.into()),
        ("KVC_MASK_EXPLICIT", kvcore::MASK_EXPLICIT.into()),
        ("KVC_EVENT_INSTALLED", Event::Installed as i64),
        ("KVC_EVENT_ERASED", Event::Erased as i64),
        ("KVC_EVENT_EVICTED", Event::Evicted as i64),
        ("KVC_EVENT_REFUSED", Event::Refused as i64),
        ("KVC_EVENT_BUSY", Event::Busy as i64),
        ("KVC_EVENT_LEAKED", Event::Leaked as i64),
        ("KVC_EVENT_ENDED", Event::Ended as i64),
    ];
    for (name, number) in numbers {
        assert_eq!(defines.get(name), Some(&number), "{name}");
    }
    for (name, code) in
        [("KVC_COLUMNS_READ", kvcore::Columns::Read), ("KVC_COLUMNS_POOL", kvcore::Columns::Pool)]
    {
        let value = u32::try_from(defines[name]).expect("a code");
        assert_eq!(kvcore::Columns::from_code(value), Some(code));
    }
}
