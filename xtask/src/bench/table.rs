//! Tables of text, which a Markdown page takes as they are.

/// Prints rows of cells in columns: the first to the left, all others to the right. The first row is the
/// heading.
pub(super) fn print(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let rule = widths.iter().enumerate().map(|(column, &width)| match column {
        0 => "-".repeat(width),
        _ => "-".repeat(width.saturating_sub(1)) + ":",
    });
    let rule: Vec<String> = rule.collect();
    for (at, row) in rows.iter().enumerate() {
        println!("{}", line(row, &widths));
        if at == 0 {
            println!("{}", line(&rule, &widths));
        }
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let pad = |(column, (cell, &width)): (usize, (&String, &usize))| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    };
    let cells: Vec<String> = cells.iter().zip(widths).enumerate().map(pad).collect();
    format!("| {} |", cells.join(" | "))
}

/// A row from anything that prints.
#[macro_export]
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($cell.to_string()),*] };
}
