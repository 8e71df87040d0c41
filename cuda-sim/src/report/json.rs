//! Reports as JSON, for tools.

use std::fmt::Write;

use cuda_sim_machine::{Place, SourceLine};

use crate::report::{AllocationInfo, RaceSide, Report};
use crate::simulator::Simulator;
use crate::site::CallSite;
use crate::trace::escaped;

/// An object while its fields are added.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self(String::from("{"))
    }

    /// Adds a field, whose value is JSON already.
    fn add(mut self, name: &str, value: &str) -> Self {
        let comma = if self.0.len() > 1 { "," } else { "" };
        // Nothing fails to be written into a string.
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
        self
    }

    /// The same where there is a value.
    fn maybe(self, name: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.add(name, &value),
            None => self,
        }
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Addresses are texts: numbers of that size are not exact everywhere.
fn address(address: u64) -> String {
    format!("\"{address:#x}\"")
}

fn call_site(site: &CallSite) -> String {
    Object::new()
        .add("function", &escaped(&site.function))
        .maybe("file", site.file.as_deref().map(escaped))
        .maybe("line", site.line.map(|line| line.to_string()))
        .end()
}

fn source_line(source: &SourceLine) -> String {
    let column = Some(source.column).filter(|it| *it > 0);
    Object::new()
        .add("file", &escaped(&source.file))
        .add("line", &source.line.to_string())
        .maybe("column", column.map(|it| it.to_string()))
        .end()
}

fn place(place: &Place) -> String {
    Object::new()
        .add("function", &escaped(&place.function))
        .add("line", &place.line.to_string())
        .add("instruction", &escaped(&place.instruction))
        .maybe("source", place.source.as_ref().map(source_line))
        .add("block", &format!("{:?}", place.block))
        .add("thread", &format!("{:?}", place.thread))
        .end()
}

fn allocation(it: &AllocationInfo) -> String {
    Object::new()
        .add("address", &address(it.address))
        .add("size", &it.size.to_string())
        .add("made", &it.made.to_string())
        .maybe("made_at", it.made_at.as_ref().map(call_site))
        .maybe("freed", it.freed.map(|call| call.to_string()))
        .maybe("freed_at", it.freed_at.as_ref().map(call_site))
        .end()
}

fn side(side: &RaceSide) -> String {
    Object::new()
        .add("operation", &escaped(&side.operation))
        .add("access", &escaped(&format!("{:?}", side.access)))
        .add("stream", &side.stream.to_string())
        .add("call", &side.call.to_string())
        .maybe("site", side.site.as_ref().map(call_site))
        .end()
}

impl Report {
    /// It as one line of JSON: an object with the fields of this type under their names. What is not known is left out; addresses are texts, as
    /// in `"0x7f00"`, and `kind` is the name of the [`ReportKind`](crate::ReportKind).
    #[must_use]
    pub fn to_json(&self) -> String {
        let race = self.race.as_ref().map(|race| {
            let bytes = [race.bytes.start, race.bytes.end].map(address).join(",");
            Object::new()
                .add("first", &side(&race.first))
                .add("second", &side(&race.second))
                .add("bytes", &format!("[{bytes}]"))
                .end()
        });
        Object::new()
            .add("kind", &escaped(&format!("{:?}", self.kind)))
            .add("message", &escaped(&self.message))
            .add("call", &self.call.to_string())
            .maybe("site", self.site.as_ref().map(call_site))
            .maybe("kernel", self.kernel.as_deref().map(escaped))
            .maybe("line", self.line.map(|line| line.to_string()))
            .maybe("instruction", self.instruction.as_deref().map(escaped))
            .maybe("source", self.source.as_ref().map(source_line))
            .maybe("block", self.block.map(|it| format!("{it:?}")))
            .maybe("thread", self.thread.map(|it| format!("{it:?}")))
            .maybe("address", self.address.map(address))
            .maybe("size", self.size.map(|it| it.to_string()))
            .maybe("allocation", self.allocation.as_ref().map(allocation))
            .maybe("race", race)
            .maybe("other", self.other.as_deref().map(place))
            .end()
    }
}

impl Simulator {
    /// What the checks found, as lines of JSON: see [`Report::to_json`].
    ///
    /// ```
    /// let simulator = cuda_sim::Simulator::new();
    /// // … the program …
    /// assert_eq!(simulator.reports_json(), "");
    /// ```
    #[must_use]
    pub fn reports_json(&self) -> String {
        let reports = self.reports();
        reports.iter().map(|it| it.to_json() + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ReportKind;

    #[test]
    fn what_is_not_known_is_left_out_and_texts_are_quoted() {
        let mut report = Report::new(ReportKind::Trap, String::from("a \"b\"\n\\"), 3);
        let plain = r#"{"kind":"Trap","message":"a \"b\"\n\\","call":3}"#;
        assert_eq!(report.to_json(), plain);
        report.address = Some(0x7f00);
        report.block = Some([1, 2, 3]);
        report.source = Some(SourceLine {
            file: "k.cu".into(),
            line: 9,
            column: 0,
            inlined: None,
        });
        let json = report.to_json();
        let rest = r#","source":{"file":"k.cu","line":9},"block":[1, 2, 3],"address":"0x7f00"}"#;
        assert!(json.ends_with(rest), "{json}");
    }
}
