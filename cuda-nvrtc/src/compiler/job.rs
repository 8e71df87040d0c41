//! A compilation from the program to the result: what it includes, the cache, the compiler.

use std::path::PathBuf;

use super::plan::Target;
use super::{Compiler, run};
use crate::cache::{Key, KeyBuilder};
use crate::compiled::{CacheUse, Compiled, Parts};
use crate::error::{Doing, ErrorKind, Result};
use crate::headers;
use crate::includes::{self, Includes};
use crate::options::CompileOptions;
use crate::program::{Encoded, Program};

/// Options that some versions of NVRTC add by themselves.
const APPENDED: &str = "NVRTC_APPEND_FLAGS";

/// Compiles a program, unless the cache has it.
pub(super) fn compile(
    compiler: &Compiler,
    program: &Program,
    options: &CompileOptions,
    target: Target,
) -> Result<Compiled> {
    let doing = || format!("compile `{}`", program.file_name());
    let mut job = Job {
        compiler,
        program,
        encoded: program.encode()?,
        options,
        target,
        arguments: options.arguments().doing(doing)?,
    };
    job.run().doing(doing)
}

struct Job<'a> {
    compiler: &'a Compiler,
    program: &'a Program,
    encoded: Encoded,
    options: &'a CompileOptions,
    target: Target,
    arguments: Vec<String>,
}

/// The files that a program may include, and the directories with CUDA's own headers, if it needs them.
struct Files {
    includes: Includes,
    cuda: Vec<PathBuf>,
}

impl Job<'_> {
    fn run(&mut self) -> Result<Compiled> {
        if let Some(parts) = self.recall() {
            return Ok(Compiled::new(parts, CacheUse::Found));
        }
        let files = self.files();
        match self.compile(&files) {
            Err(error)
                if error.kind() == ErrorKind::MissingHeader && self.unpack_headers(&files) =>
            {
                self.compile(&self.files())
            }
            other => other,
        }
    }

    /// The kept result, if the files that the program may include are known from an earlier run and have not changed since.
    fn recall(&self) -> Option<Parts> {
        let cache = &self.compiler.cache;
        cache.get(&cache.recall(&self.program_key()?)?)
    }

    /// The key under which the files that the program may include are noted; nothing if it includes none, or is not kept.
    fn program_key(&self) -> Option<Key> {
        if !includes::has_any(self.program, self.include_options()) {
            return None;
        }
        let mut key = self.begin_key(&self.arguments).ok()?;
        let directory = std::env::current_dir().ok()?;
        key.part(directory.as_os_str().as_encoded_bytes());
        let cuda = headers::directories(self.compiler.path(), self.bundle().as_deref());
        key.list(cuda.iter().map(|it| it.as_os_str().as_encoded_bytes()));
        key.part(format!("{:?}", self.options.cuda_headers).as_bytes());
        Some(key.finish())
    }

    /// What the program may include, from CUDA's own headers too if it includes what is found nowhere else.
    fn files(&self) -> Files {
        let find = |directories: &[PathBuf]| {
            includes::find(self.program, directories, self.include_options())
        };
        let own = &self.options.include_paths;
        let includes = find(own);
        let wants_cuda = self
            .options
            .cuda_headers
            .unwrap_or(!includes.missing.is_empty());
        let cuda = if wants_cuda {
            headers::directories(self.compiler.path(), self.bundle().as_deref())
        } else {
            Vec::new()
        };
        if cuda.is_empty() {
            return Files { includes, cuda };
        }
        let all: Vec<PathBuf> = own.iter().chain(&cuda).cloned().collect();
        Files {
            includes: find(&all),
            cuda,
        }
    }

    fn include_options(&self) -> includes::Options<'_> {
        includes::Options {
            pre_includes: &self.options.pre_includes,
            arguments: &self.arguments,
        }
    }

    /// Where the headers that this compiler carries are unpacked.
    fn bundle(&self) -> Option<PathBuf> {
        let identity = self.compiler.located.identity.as_ref()?;
        let mut builder = KeyBuilder::new();
        builder.part(identity);
        self.compiler
            .cache
            .folder(&format!("headers-{}", builder.finish()))
    }

    /// Unpacks CUDA's headers after one was missing; whether it helps to try again.
    fn unpack_headers(&self, files: &Files) -> bool {
        if !files.cuda.is_empty() || self.options.cuda_headers == Some(false) {
            return false;
        }
        match (self.compiler.nvrtc(), self.bundle()) {
            (Ok(nvrtc), Some(bundle)) => headers::unpack(nvrtc, &bundle),
            _ => false,
        }
    }

    fn compile(&self, files: &Files) -> Result<Compiled> {
        let mut arguments = self.arguments.clone();
        for directory in &files.cuda {
            arguments.push(format!("--include-path={}", directory.display()));
        }
        let cache = &self.compiler.cache;
        let key = self.key(files, &arguments);
        if let Ok(key) = &key
            && let Some(parts) = cache.get(key)
        {
            self.note(key, files);
            return Ok(Compiled::new(parts, CacheUse::Found));
        }
        let nvrtc = self.compiler.nvrtc()?;
        let plan = self.target.plan(nvrtc, self.options)?;
        let parts = run::compile(nvrtc, self.program, &self.encoded, &plan, arguments.clone())?;
        let kept = key.and_then(|key| {
            self.check_unchanged(&key, files, &arguments)?;
            cache.insert(&key, &parts).map(|()| key)
        });
        let cache_use = match kept {
            Ok(key) => {
                self.note(&key, files);
                CacheUse::Kept
            }
            Err(reason) => CacheUse::NotKept(reason),
        };
        Ok(Compiled::new(parts, cache_use))
    }

    /// Whether what the key was made of is what the compiler has read meanwhile; if that is not sure, why.
    fn check_unchanged(
        &self,
        key: &Key,
        files: &Files,
        arguments: &[String],
    ) -> Result<(), String> {
        let located = &*self.compiler.located;
        if located.found.identity() != located.identity {
            return Err("the files of the compiler have been replaced".into());
        }
        let Includes {
            files: read,
            snapshot,
            ..
        } = &files.includes;
        if let Some((path, _)) = read.iter().find(|(path, _)| !snapshot.is_same(path)) {
            return Err(format!("`{}` changed meanwhile", path.display()));
        }
        if snapshot.is_current() || self.key(&self.files(), arguments).as_ref() == Ok(key) {
            return Ok(());
        }
        Err("a file that it may include changed meanwhile".into())
    }

    /// Notes which files led to the key.
    fn note(&self, key: &Key, files: &Files) {
        if let Some(program) = self.program_key() {
            self.compiler
                .cache
                .note(&program, key, &files.includes.snapshot);
        }
    }

    /// The key in the cache, or why the result cannot be kept.
    fn key(&self, files: &Files, arguments: &[String]) -> Result<Key, String> {
        let mut key = self.begin_key(arguments)?;
        if let Some(reason) = &files.includes.unknown {
            return Err(reason.clone());
        }
        key.number(files.includes.files.len() as u64);
        for (path, content) in &files.includes.files {
            key.part(path.as_os_str().as_encoded_bytes());
            key.part(content);
        }
        Ok(key.finish())
    }

    /// The part of the key that needs no file, or why the result cannot be kept.
    fn begin_key(&self, arguments: &[String]) -> Result<KeyBuilder, String> {
        if !self.compiler.cache.is_enabled() {
            return Err("the cache is disabled".into());
        }
        let Some(identity) = &self.compiler.located.identity else {
            return Err(
                "it is not known which file the compiler is, so neither is its exact version"
                    .into(),
            );
        };
        if let Some(reason) = self.options.uncacheable() {
            return Err(reason);
        }
        if std::env::var_os(APPENDED).is_some_and(|flags| !flags.is_empty()) {
            return Err(format!("the variable {APPENDED} is set"));
        }
        let mut key = KeyBuilder::new();
        key.part(identity);
        key.part(self.target.describe(self.options).as_bytes());
        key.list(arguments.iter());
        if self.options.names_directories() {
            let directory = std::env::current_dir().unwrap_or_default();
            key.part(directory.as_os_str().as_encoded_bytes());
        }
        let program = self.program;
        key.part(program.file_name().as_bytes());
        key.part(program.source().as_bytes());
        let headers: Vec<_> = program
            .headers()
            .flat_map(|(name, text)| [name, text])
            .collect();
        key.list(headers.iter());
        let instances: Vec<_> = program.instances().collect();
        key.list(instances.iter());
        Ok(key)
    }
}
