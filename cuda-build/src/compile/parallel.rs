//! Runs jobs side by side, within the limit that Cargo shares between all processes of a build.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jobserver::{Acquired, Client};

use crate::environment::Environment;

/// How long a free slot can stay unnoticed.
const PAUSE: Duration = Duration::from_millis(10);

/// Who says how many jobs may run.
#[derive(Debug)]
pub(crate) struct Limit {
    most: usize,
    /// Gives out a token for each job but the first, which runs on the token that the build script itself has.
    server: Option<Client>,
}

impl Limit {
    /// The limit that Cargo gives to build scripts.
    pub(crate) fn of(environment: &Environment) -> Self {
        let stated = environment.get_untracked("NUM_JOBS");
        let stated = stated.and_then(|text| text.to_str()?.parse().ok());
        let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            most: stated.unwrap_or_else(processors).max(1),
            server: environment
                .get_untracked("CARGO_MAKEFLAGS")
                .and_then(|_| server()),
        }
    }
}

/// The server whose files Cargo left open for build scripts.
fn server() -> Option<Client> {
    // SAFETY: Cargo sets CARGO_MAKEFLAGS only when it hands the files that it names to the build script, where nothing else can have
    // taken their numbers, as they stay open. That they are pipes is checked.
    let found = unsafe { Client::from_env_ext(true) };
    found.client.ok()
}

/// Does the work for every job and returns what came of each, in their order.
pub(crate) fn run_all<J: Send, R: Send>(
    limit: &Limit,
    jobs: Vec<J>,
    work: impl Fn(J) -> R + Sync,
) -> Vec<R> {
    let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let mut waiting: VecDeque<(usize, J)> = jobs.into_iter().enumerate().collect();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let work = &work;
        let mut running = 0;
        let mut own_token_is_used = false;
        while running > 0 || !waiting.is_empty() {
            while running < limit.most && !waiting.is_empty() {
                let Some(token) = limit.token(own_token_is_used) else {
                    break;
                };
                let Some((index, job)) = waiting.pop_front() else {
                    break;
                };
                let is_own = matches!(token, Token::Own);
                own_token_is_used |= is_own;
                running += 1;
                let sender = sender.clone();
                scope.spawn(move || {
                    let result = catch_unwind(AssertUnwindSafe(|| work(job)));
                    drop(token);
                    // The receiver outlives all jobs, so this does not fail.
                    drop(sender.send((index, result, is_own)));
                });
            }
            let done = if waiting.is_empty() || running >= limit.most {
                receiver.recv().ok()
            } else {
                receiver.recv_timeout(PAUSE).ok()
            };
            if let Some((index, result, is_own)) = done {
                running -= 1;
                own_token_is_used &= !is_own;
                match result {
                    Err(panic) => resume_unwind(panic),
                    Ok(result) => results[index] = Some(result),
                }
            }
        }
    });
    results.into_iter().flatten().collect()
}

/// The right to run one job.
#[derive(Debug)]
enum Token {
    /// The one that the build script has from the start.
    Own,
    /// One that goes back to the server.
    Shared { _token: Acquired },
    /// No server counts.
    Free,
}

impl Limit {
    /// A token, if one is there now.
    fn token(&self, own_is_used: bool) -> Option<Token> {
        if !own_is_used {
            return Some(Token::Own);
        }
        let Some(server) = &self.server else {
            return Some(Token::Free);
        };
        // A server that cannot be asked without waiting leaves the one job that runs anyway.
        let token = server.try_acquire().ok().flatten()?;
        Some(Token::Shared { _token: token })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The most jobs that ran at once, of 24.
    fn most_at_once(limit: &Limit) -> usize {
        let running = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let results = run_all(limit, (0..24).collect(), |number: usize| {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(15));
            running.fetch_sub(1, Ordering::SeqCst);
            number * 2
        });
        assert_eq!(
            results,
            (0..24).map(|number| number * 2).collect::<Vec<_>>()
        );
        most.into_inner()
    }

    #[test]
    fn jobs_run_side_by_side_up_to_the_limit() {
        for most in [1, 2, 8] {
            let limit = Limit { most, server: None };
            assert_eq!(most_at_once(&limit), most);
        }
    }

    #[test]
    fn a_server_shares_its_tokens_and_gets_them_back() {
        let Ok(server) = Client::new(2) else {
            panic!("no server of jobs can be made");
        };
        if let Err(error) = server.try_acquire() {
            eprintln!(
                "skipped: this system's server of jobs cannot be asked without waiting: {error}"
            );
            return;
        }
        let limit = Limit {
            most: 8,
            server: Some(server.clone()),
        };
        // Two tokens, and the one that the build script has.
        assert_eq!(most_at_once(&limit), 3);
        let held: Vec<_> = (0..3).map(|_| server.try_acquire().unwrap()).collect();
        assert_eq!(held.iter().flatten().count(), 2);
        // With none to be had, the own one does all the work.
        assert_eq!(most_at_once(&limit), 1);
    }

    #[test]
    fn a_panic_is_handed_on() {
        let limit = Limit {
            most: 2,
            server: None,
        };
        let panicked =
            catch_unwind(|| run_all(&limit, vec![1, 2, 3], |number: u32| assert_ne!(number, 2)));
        assert!(panicked.is_err());
    }

    #[test]
    fn the_number_of_jobs_comes_from_cargo() {
        let root = std::path::Path::new("/");
        assert_eq!(
            Limit::of(&Environment::of(root, [("NUM_JOBS", "5")])).most,
            5
        );
        assert_eq!(
            Limit::of(&Environment::of(root, [("NUM_JOBS", "0")])).most,
            1
        );
        assert!(Limit::of(&Environment::of(root, [("NUM_JOBS", "many")])).most >= 1);
    }
}
