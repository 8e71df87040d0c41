//! How C names the records and fields that Rust had to invent names for.

use std::collections::BTreeMap;

use quote::ToTokens;

use crate::model::{Api, Field, Record};

/// Words that Rust keeps for itself and C does not: bindgen appends `_` to fields of these names.
const KEYWORDS: [&str; 7] = ["fn", "in", "match", "move", "ref", "type", "use"];

/// A record as C reaches it.
#[derive(Debug, Clone)]
pub(crate) struct CRecord {
    /// A C type: the record itself, or the record that an anonymous one is part of.
    ty: String,
    is_anonymous: bool,
}

/// The C names of all records, by Rust name.
pub(crate) struct CNames {
    records: BTreeMap<String, CRecord>,
    /// The fields of each record, by Rust name.
    fields: BTreeMap<String, Vec<String>>,
}

impl CNames {
    /// `names` leads from tags to Rust names.
    pub(crate) fn new(api: &Api, names: &BTreeMap<String, String>) -> Self {
        let mut records = BTreeMap::new();
        for record in &api.records {
            let tag = names
                .iter()
                .find(|(_, name)| **name == record.tag)
                .map(|(tag, _)| tag.as_str());
            let ty = match tag {
                // A record within another that has a tag of its own, but no typedef.
                Some(tag) if tag.ends_with(&format!("_{}_st", record.tag)) => {
                    format!("struct {}_st", record.tag)
                }
                None if record.tag.ends_with("_st") => format!("struct {}", record.tag),
                _ => record.tag.clone(),
            };
            records.entry(record.tag.clone()).or_insert(CRecord {
                ty,
                is_anonymous: false,
            });
            let parent: CRecord = records[&record.tag].clone();
            for field in &record.fields {
                let ty = field.ty.to_token_stream().to_string();
                if ty != format!("{}_{}", record.tag, field.name) {
                    continue;
                }
                let is_anonymous = field.name.starts_with("anonymous");
                let in_c = if is_anonymous {
                    parent.ty.clone()
                } else {
                    member(&parent.ty, &field.name)
                };
                records.insert(
                    ty,
                    CRecord {
                        ty: in_c,
                        is_anonymous,
                    },
                );
            }
        }
        let fields = api.records.iter();
        let fields = fields.map(|record| {
            (
                record.tag.clone(),
                record
                    .fields
                    .iter()
                    .map(|field| field.name.clone())
                    .collect(),
            )
        });
        Self {
            fields: fields.collect(),
            records,
        }
    }

    /// The C name of a record.
    pub(crate) fn record(&self, name: &str) -> CRecord {
        self.records.get(name).cloned().unwrap_or(CRecord {
            ty: name.to_string(),
            is_anonymous: false,
        })
    }
}

/// The type of a member.
fn member(ty: &str, field: &str) -> String {
    format!("__typeof__((({ty} *)0)->{})", c_field(field))
}

fn c_field(name: &str) -> &str {
    name.strip_suffix('_')
        .filter(|stripped| KEYWORDS.contains(stripped))
        .unwrap_or(name)
}

impl CRecord {
    pub(crate) fn size(&self) -> String {
        if self.is_anonymous {
            "-".to_string()
        } else {
            format!("sizeof({})", self.ty)
        }
    }

    pub(crate) fn align(&self) -> String {
        if self.is_anonymous {
            "-".to_string()
        } else {
            format!("_Alignof({})", self.ty)
        }
    }

    /// The offset of `field` of `record`, which this is.
    pub(crate) fn offset(&self, names: &CNames, record: &Record, field: &Field) -> String {
        let ty = &self.ty;
        // An anonymous member is where its own first member is.
        let own = format!("{}_{}", record.tag, field.name);
        let inner = names
            .fields
            .get(&own)
            .filter(|_| field.name.starts_with("anonymous"));
        let name = inner
            .and_then(|fields| fields.first())
            .map_or(field.name.as_str(), String::as_str);
        let offset = format!("offsetof({ty}, {})", c_field(name));
        match record.fields.first() {
            Some(first) if self.is_anonymous => {
                format!("{offset} - offsetof({ty}, {})", c_field(&first.name))
            }
            _ => offset,
        }
    }
}
