//! Tuples of arguments.

use std::ffi::c_void;

use super::MAX_ARGUMENTS;
use super::argument::KernelArgument;
use super::argument::sealed::Sealed;
use super::host::HostRange;
use super::shape::Shape;
use crate::order::Access;
use crate::stream::StreamCore;

/// All arguments of a kernel: a tuple of up to 16 [`KernelArgument`]s.
pub trait KernelArguments: all::Sealed {}

pub(crate) mod all {
    use super::{Access, HostRange, MAX_ARGUMENTS, Shape, StreamCore, c_void};

    /// What a launch needs of all arguments.
    pub trait Sealed {
        #[doc(hidden)]
        type Pointers: AsMut<[*mut c_void]>;
        #[doc(hidden)]
        type Sizes: AsRef<[usize]>;
        #[doc(hidden)]
        type Slots;

        /// The sizes of all arguments in one number, to compare at once.
        #[doc(hidden)]
        const SHAPE: Shape;

        /// Whether any is host memory.
        #[doc(hidden)]
        const STAGED: bool;

        #[doc(hidden)]
        fn slots(&self) -> Self::Slots;
        /// Where the values are; `slots` are those of the same arguments.
        #[doc(hidden)]
        fn pointers(&self, slots: &Self::Slots) -> Self::Pointers;
        #[doc(hidden)]
        fn sizes(&self) -> Self::Sizes;
        #[doc(hidden)]
        fn are_at_home(&self, stream: u64) -> bool;
        #[doc(hidden)]
        fn mark_home(&self);
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "nobody else calls it")]
        fn uses<'a>(&'a self, uses: &mut [Option<Access<'a, StreamCore>>; MAX_ARGUMENTS]);
        #[doc(hidden)]
        fn hosts(&mut self, hosts: &mut [Option<HostRange>; MAX_ARGUMENTS]);
    }
}

macro_rules! tuple {
    ($count:literal: $($name:ident $index:tt),*) => {
        impl<$($name: KernelArgument),*> all::Sealed for ($($name,)*) {
            type Pointers = [*mut c_void; $count];
            type Sizes = [usize; $count];
            type Slots = ($($name::Slot,)*);

            const STAGED: bool = false $(|| <$name as Sealed>::STAGED)*;
            const SHAPE: Shape = Shape::given(&[$(<$name as Sealed>::SIZE),*]);

            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the slots of the empty tuple")]
            fn slots(&self) -> Self::Slots {
                ($(self.$index.slot(),)*)
            }

            #[inline(always)]
            #[allow(unused_variables, reason = "the empty tuple has no slots")]
            fn pointers(&self, slots: &Self::Slots) -> Self::Pointers {
                [$(self.$index.pointer(&slots.$index)),*]
            }

            fn sizes(&self) -> Self::Sizes {
                [$(<$name as Sealed>::SIZE),*]
            }

            #[inline(always)]
            #[allow(unused_variables, reason = "the empty tuple has no memory")]
            fn are_at_home(&self, stream: u64) -> bool {
                true $(&& self.$index.is_at_home(stream))*
            }

            #[inline(always)]
            fn mark_home(&self) {
                $(self.$index.mark_home();)*
            }

            #[allow(unused_variables, reason = "the empty tuple has no memory")]
            #[expect(private_interfaces, reason = "nobody else calls it")]
            fn uses<'a>(&'a self, uses: &mut [Option<Access<'a, StreamCore>>; MAX_ARGUMENTS]) {
                $(uses[$index] = self.$index.memory_use().map(|memory| memory.0);)*
            }

            #[allow(unused_variables, reason = "the empty tuple has no memory")]
            fn hosts(&mut self, hosts: &mut [Option<HostRange>; MAX_ARGUMENTS]) {
                $(hosts[$index] = self.$index.host();)*
            }
        }

        impl<$($name: KernelArgument),*> KernelArguments for ($($name,)*) {}
    };
}

tuple!(0:);
tuple!(1: A 0);
tuple!(2: A 0, B 1);
tuple!(3: A 0, B 1, C 2);
tuple!(4: A 0, B 1, C 2, D 3);
tuple!(5: A 0, B 1, C 2, D 3, E 4);
tuple!(6: A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(7: A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(9: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(10: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(11: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(12: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
tuple!(13: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
tuple!(14: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
tuple!(15: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14);
tuple!(16: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);
