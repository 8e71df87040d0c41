//! The configurations of launches as code.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::{expression, len_of, local};
use crate::check;
use crate::syntax::{Amount, Block, Expression, Grid, Kernel, Launch};

/// Threads of a block when nothing is said.
const USUAL_BLOCK: u32 = 256;

/// Whether there is something that callers may choose.
pub(super) fn is_open(launch: &Launch) -> bool {
    launch.most_blocks.is_some()
        || matches!(launch.block, Block::AtMost(_))
        || matches!(launch.shared, Some(Amount::AtMost(_)))
        || launch.waits.is_some()
}

/// The configuration that the declaration says, as an expression that may return from the method.
pub(super) fn usual(kernel: &Kernel, launch: &Launch, krate: &TokenStream) -> TokenStream {
    let title = kernel.name.to_string();
    let mut config = match (&launch.grid, &launch.block) {
        (Grid::ForLen(len), block) => {
            let len = length(kernel, len);
            let block = one_dimension(&title, block);
            quote!(#krate::LaunchConfig::for_len_with_block(#len, #block))
        }
        (Grid::Exactly(list), block) => {
            let grid = dimensions(&title, "the grid", list, krate);
            let block = block_of(&title, block, krate);
            quote!(#krate::LaunchConfig::new(#grid, #block))
        }
    };
    if let Some(most) = &launch.most_blocks
        && matches!(launch.grid, Grid::ForLen(_))
    {
        let most = expression::number(&title, "the grid", most);
        let cut = local("cut");
        config = quote! {
            {
                let mut #cut = #config;
                #cut.grid.x = ::core::cmp::Ord::min(#cut.grid.x, #most);
                #cut
            }
        };
    }
    if let Some(Amount::Exactly(bytes)) = &launch.shared {
        let bytes = expression::number(&title, "shared memory", bytes);
        config = quote!(#krate::LaunchConfig::with_dynamic_shared_bytes(#config, #bytes));
    }
    if let Some(list) = &launch.cluster {
        let cluster = dimensions(&title, "a cluster", list, krate);
        config = quote!(#config.with_cluster(#cluster));
    }
    if launch.is_cooperative {
        config = quote!(#config.cooperative());
    }
    config
}

/// What of a shape depends on the arguments of a launch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependence {
    /// Nothing.
    None,
    /// The grid, by a number of elements.
    Len,
    /// Something else, or more.
    Other,
}

impl Dependence {
    pub(super) fn of(launch: &Launch) -> Self {
        let grid = !is_grid_constant(launch);
        let block = !is_block_constant(&launch.block);
        let others = block || !is_shared_constant(launch) || !is_cluster_constant(launch);
        match (grid, others) {
            (false, false) => Self::None,
            (true, false)
                if launch.most_blocks.is_none() && matches!(launch.grid, Grid::ForLen(_)) =>
            {
                Self::Len
            }
            _ => Self::Other,
        }
    }
}

fn are_constant(list: &[Expression]) -> bool {
    list.iter().all(|it| it.constant().is_some())
}

fn is_grid_constant(launch: &Launch) -> bool {
    match (&launch.most_blocks, &launch.grid) {
        (Some(most), _) => most.constant().is_some(),
        (None, Grid::ForLen(len)) => len.constant().is_some(),
        (None, Grid::Exactly(list)) => are_constant(list),
    }
}

fn is_block_constant(block: &Block) -> bool {
    match block {
        Block::Usual => true,
        Block::AtMost(most) => most.constant().is_some(),
        Block::Exactly(list) => are_constant(list),
    }
}

fn is_shared_constant(launch: &Launch) -> bool {
    match &launch.shared {
        Some(Amount::Exactly(bytes) | Amount::AtMost(bytes)) => bytes.constant().is_some(),
        None => true,
    }
}

fn is_cluster_constant(launch: &Launch) -> bool {
    let list = launch.cluster.as_deref();
    list.is_none_or(are_constant)
}

/// The bounds of what callers may choose, as an expression of `p::Bounds`. Where there are no arguments, `prepared` is the variable with the
/// configuration, and what depends on them is left open.
pub(super) fn bounds(
    kernel: &Kernel,
    launch: &Launch,
    krate: &TokenStream,
    prepared: Option<&Ident>,
) -> TokenStream {
    let title = kernel.name.to_string();
    let at_most = |place: &str, most: &Expression| {
        let (value, text) = (expression::value(most), most.to_string());
        quote! {
            match #value {
                ::core::option::Option::Some(most) => most,
                ::core::option::Option::None => {
                    return ::core::result::Result::Err(p::wrong_number(&(#title, #place, #text)));
                }
            }
        }
    };
    let is_open = prepared.is_some();
    let grid = match (&launch.most_blocks, &launch.grid) {
        (None, Grid::ForLen(_)) if is_open && !is_grid_constant(launch) => {
            quote!(p::Grid::ForSomeLen)
        }
        _ if is_open && !is_grid_constant(launch) => quote!(p::Grid::ByArguments),
        (Some(most), grid) => {
            let blocks = at_most("the grid", most);
            // A kernel that does not ask for its block's place in a dimension would do the same work several times at once.
            let dimensions = match grid {
                Grid::ForLen(_) => 1,
                Grid::Exactly(list) => list.len(),
            };
            quote!(p::Grid::AtMost { blocks: #blocks, dimensions: #dimensions })
        }
        (None, Grid::ForLen(len)) => {
            let len = length(kernel, len);
            quote!(p::Grid::ForLen(#len))
        }
        (None, Grid::Exactly(list)) => {
            let grid = dimensions(&title, "the grid", list, krate);
            quote!(p::Grid::Exactly(#grid))
        }
    };
    let block = match &launch.block {
        block if is_open && !is_block_constant(block) => quote!(p::Block::ByArguments),
        Block::AtMost(most) => {
            let most = at_most("the block", most);
            quote!(p::Block::AtMost(#most))
        }
        block => {
            let block = block_of(&title, block, krate);
            quote!(p::Block::Exactly(#block))
        }
    };
    let shared = match &launch.shared {
        _ if is_open && !is_shared_constant(launch) => quote!(p::Shared::ByArguments),
        Some(Amount::AtMost(most)) => {
            let most = at_most("shared memory", most);
            quote!(p::Shared::AtMost(#most))
        }
        Some(Amount::Exactly(bytes)) => {
            let bytes = expression::number(&title, "shared memory", bytes);
            quote!(p::Shared::Exactly(#bytes))
        }
        None => quote!(p::Shared::Exactly(0)),
    };
    let cluster = match (&launch.cluster, prepared) {
        (Some(_), Some(config)) if !is_cluster_constant(launch) => {
            quote!(#krate::AnyLaunchConfig::attributes(&#config).cluster)
        }
        (Some(list), _) => {
            let cluster = dimensions(&title, "a cluster", list, krate);
            quote!(::core::option::Option::Some(#cluster))
        }
        (None, _) => quote!(::core::option::Option::None),
    };
    let (cooperative, waits) = (launch.is_cooperative, launch.waits.is_some());
    quote! {
        p::Bounds {
            grid: #grid,
            block: #block,
            shared: #shared,
            cluster: #cluster,
            cooperative: #cooperative,
            waits: #waits,
        }
    }
}

/// A number of elements, of type `usize`.
pub(super) fn length(kernel: &Kernel, len: &Expression) -> TokenStream {
    match len {
        Expression::Len(name) => {
            let len = len_of(name);
            quote!(#len)
        }
        Expression::Name(name) if check::is_memory(kernel, name) => {
            let len = len_of(name);
            quote!(#len)
        }
        other => {
            let (title, text) = (kernel.name.to_string(), other.to_string());
            let value = expression::value(other);
            quote! {
                match #value.map(<usize as ::core::convert::TryFrom<u128>>::try_from) {
                    ::core::option::Option::Some(::core::result::Result::Ok(len)) => len,
                    _ => return ::core::result::Result::Err(p::wrong_number(&(#title, "the grid", #text))),
                }
            }
        }
    }
}

/// That number as text.
pub(super) fn length_text(kernel: &Kernel, len: &Expression) -> String {
    match len {
        Expression::Name(name) if check::is_memory(kernel, name) => format!("len({name})"),
        other => other.to_string(),
    }
}

/// The usual block where it has one dimension, of type `u32`.
fn one_dimension(title: &str, block: &Block) -> TokenStream {
    match block {
        Block::Usual => quote!(#USUAL_BLOCK),
        Block::AtMost(most) => match most.constant().map(u32::try_from) {
            Some(Ok(most)) => {
                let block = most.min(USUAL_BLOCK);
                quote!(#block)
            }
            _ => {
                let most = expression::number(title, "the block", most);
                quote!(::core::cmp::Ord::min(#most, #USUAL_BLOCK))
            }
        },
        Block::Exactly(list) => match list.first() {
            Some(threads) => expression::number(title, "the block", threads),
            None => quote!(#USUAL_BLOCK),
        },
    }
}

/// The usual block, of type `Dim3`.
fn block_of(title: &str, block: &Block, krate: &TokenStream) -> TokenStream {
    match block {
        Block::Exactly(list) => dimensions(title, "the block", list, krate),
        block => {
            let threads = one_dimension(title, block);
            quote!(#krate::Dim3::new(#threads, 1, 1))
        }
    }
}

fn dimensions(title: &str, place: &str, list: &[Expression], krate: &TokenStream) -> TokenStream {
    let mut numbers = list.iter().map(|it| expression::number(title, place, it));
    let mut next = || numbers.next().unwrap_or_else(|| quote!(1));
    let (x, y, z) = (next(), next(), next());
    quote!(#krate::Dim3::new(#x, #y, #z))
}
