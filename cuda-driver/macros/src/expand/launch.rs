//! The configurations of launches as code.

use proc_macro2::TokenStream;
use quote::quote;

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

/// The bounds of what callers may choose, as an expression of `p::Bounds`.
pub(super) fn bounds(kernel: &Kernel, launch: &Launch, krate: &TokenStream) -> TokenStream {
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
    let grid = match (&launch.most_blocks, &launch.grid) {
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
    let cluster = match &launch.cluster {
        Some(list) => {
            let cluster = dimensions(&title, "a cluster", list, krate);
            quote!(::core::option::Option::Some(#cluster))
        }
        None => quote!(::core::option::Option::None),
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
fn length(kernel: &Kernel, len: &Expression) -> TokenStream {
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
