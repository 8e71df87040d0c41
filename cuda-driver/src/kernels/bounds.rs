//! Configurations that callers choose, within what a declaration leaves open.

use super::lengths::{Place, wrong_number};
use crate::error::{Doing, Error, ErrorKind, Result, count};
use crate::launch::{AnyLaunchConfig, Dim3, ExtendedLaunchConfig, LaunchAttributes};

/// What a declaration says of the grid.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    /// A thread for each of so many elements.
    ForLen(usize),
    /// A thread for each element; how many these are is said by the arguments.
    ForSomeLen,
    /// What the arguments say.
    ByArguments,
    /// That grid.
    Exactly(Dim3),
    /// So many blocks at most.
    AtMost {
        /// How many.
        blocks: u128,
        /// In how many dimensions.
        dimensions: usize,
    },
}

/// What a declaration says of the block.
#[derive(Clone, Copy, Debug)]
pub enum Block {
    /// That block.
    Exactly(Dim3),
    /// So many threads at most, in one dimension.
    AtMost(u128),
    /// What the arguments say.
    ByArguments,
}

/// What a declaration says of the dynamic shared memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Shared {
    /// So much.
    Exactly(u32),
    /// So much at most.
    AtMost(u128),
    /// What the arguments say.
    ByArguments,
}

/// What a declaration says of a launch, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The grid.
    pub grid: Grid,
    /// The block.
    pub block: Block,
    /// The dynamic shared memory.
    pub shared: Shared,
    /// The clusters.
    pub cluster: Option<Dim3>,
    /// Whether all blocks run at the same time.
    pub cooperative: bool,
    /// Whether the kernel waits by itself for what is in front of it, so that it may start early.
    pub waits: bool,
}

impl Bounds {
    /// The configuration that a caller asks for, with the declared cluster and mode.
    ///
    /// # Errors
    /// [`ErrorKind::ArgumentMismatch`] that names the bound.
    pub fn admit(
        &self,
        kernel: &'static str,
        config: &impl AnyLaunchConfig,
    ) -> Result<ExtendedLaunchConfig> {
        let doing = || format!("launch `{kernel}`");
        self.admit_config(config).map_err(refuse).doing(doing)
    }

    /// The same for many launches.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn admit_prepared(
        &self,
        kernel: &'static str,
        config: &impl AnyLaunchConfig,
    ) -> Result<ExtendedLaunchConfig> {
        let doing = || format!("prepare a launch of `{kernel}`");
        self.admit_config(config).map_err(refuse).doing(doing)
    }

    /// Refuses what was prepared if the arguments of a launch say that it should be something else.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn require(&self, kernel: &'static str, prepared: &ExtendedLaunchConfig) -> Result<()> {
        if self.admit(kernel, prepared)? == *prepared {
            return Ok(());
        }
        let reason = match self.cluster {
            Some(cluster) => format!("it is prepared without the declared cluster of {cluster}"),
            None => "it is prepared otherwise than declared".to_owned(),
        };
        Err(refuse(reason)).doing(|| format!("launch `{kernel}`"))
    }

    fn admit_config(&self, config: &impl AnyLaunchConfig) -> Result<ExtendedLaunchConfig, String> {
        let (config, attributes) = (config.config(), config.attributes());
        let (grid, block) = (config.grid, config.block);
        if block.volume() == 0 {
            return Err(format!("the block is {block}, which has no threads"));
        }
        match self.block {
            Block::Exactly(wanted) if block != wanted => {
                return Err(format!(
                    "the block is {block}, and the declaration says {wanted}"
                ));
            }
            Block::AtMost(most) if block.volume() > most || block.y != 1 || block.z != 1 => {
                return Err(format!(
                    "the block is {block}, and the declaration says up to {} in one dimension",
                    count(most, "thread")
                ));
            }
            _ => {}
        }
        let wanted = match self.grid {
            Grid::ForLen(len) => Some(crate::LaunchConfig::for_len_with_block(len, block.x).grid),
            Grid::Exactly(grid) => Some(grid),
            Grid::ForSomeLen if grid.y != 1 || grid.z != 1 => {
                return Err(format!(
                    "the grid is {grid}, and the declaration says blocks in 1 dimension"
                ));
            }
            Grid::ForSomeLen | Grid::ByArguments => None,
            Grid::AtMost { blocks, dimensions } => {
                if grid.volume() > blocks {
                    return Err(format!(
                        "the grid is {grid}, and the declaration says up to {}",
                        count(blocks, "block")
                    ));
                }
                if (dimensions < 3 && grid.z != 1) || (dimensions < 2 && grid.y != 1) {
                    return Err(format!(
                        "the grid is {grid}, and the declaration says blocks in {}",
                        count(dimensions, "dimension")
                    ));
                }
                None
            }
        };
        if let Some(wanted) = wanted
            && grid != wanted
        {
            return Err(format!(
                "the grid is {grid}, and the declaration says {wanted} for blocks of {block}"
            ));
        }
        let shared = config.dynamic_shared_bytes;
        match self.shared {
            Shared::Exactly(wanted) if shared != wanted => {
                return Err(format!(
                    "{} asked for, and the declaration says {wanted}",
                    shared_is(shared)
                ));
            }
            Shared::AtMost(most) if u128::from(shared) > most => {
                return Err(format!(
                    "{} asked for, and the declaration says up to {most}",
                    shared_is(shared)
                ));
            }
            _ => {}
        }
        let attributes = self.admit_attributes(attributes)?;
        Ok(ExtendedLaunchConfig { config, attributes })
    }

    /// The attributes, of which some are the declaration's business.
    fn admit_attributes(&self, asked: LaunchAttributes) -> Result<LaunchAttributes, String> {
        if asked.cluster.is_some_and(|it| Some(it) != self.cluster) {
            return Err("a cluster is asked for that is not the declared one".into());
        }
        if asked.preferred_cluster.is_some() {
            return Err("a preferred cluster is asked for, which is not declared".into());
        }
        if asked.cooperative && !self.cooperative {
            return Err("a cooperative launch is asked for, which is not declared".into());
        }
        if asked.programmatic_dependent && !self.waits {
            return Err(
                "a programmatic dependent launch is asked for, and the declaration does not say that the kernel `waits`"
                    .into(),
            );
        }
        Ok(self.impose(asked))
    }

    /// The attributes with what the declaration says.
    #[must_use]
    pub fn impose(&self, mut attributes: LaunchAttributes) -> LaunchAttributes {
        attributes.cluster = self.cluster;
        attributes.cooperative = self.cooperative;
        attributes
    }
}

fn shared_is(bytes: u32) -> String {
    let is = if bytes == 1 { "is" } else { "are" };
    format!("{} of dynamic shared memory {is}", count(bytes, "byte"))
}

#[cold]
fn refuse(reason: String) -> Error {
    Error::new(ErrorKind::ArgumentMismatch, reason)
        .remedied_by("stay within what the kernel's declaration leaves open")
}

/// A number of blocks, threads or bytes.
///
/// # Errors
/// [`ErrorKind::ArgumentMismatch`] for what does not fit.
#[inline(always)]
pub fn number(place: &Place, value: Option<u128>) -> Result<u32> {
    match value.map(u32::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => Err(wrong_number(place)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Bounds, Grid, Shared};
    use crate::LaunchConfig;

    #[test]
    fn a_block_without_threads_is_said_to_have_none() {
        let bounds = Bounds {
            grid: Grid::ForLen(10),
            block: Block::AtMost(1024),
            shared: Shared::Exactly(0),
            cluster: None,
            cooperative: false,
            waits: false,
        };
        let refused = bounds.admit("scale", &LaunchConfig::new(1, 0));
        assert_eq!(
            refused.expect_err("no threads").to_string(),
            "cannot launch `scale`: the block is 0×1×1, which has no threads; stay within what the kernel's declaration leaves \
             open"
        );
        assert!(bounds.admit("scale", &LaunchConfig::new(1, 32)).is_ok());
    }
}
