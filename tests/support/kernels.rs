//! The kernels that many tests use, as functions that are safe to call.

use cuda_driver::{
    AnyStream, Context, DeviceAllocation, DeviceSlice, DeviceSliceMut, Function, LaunchConfig,
    Result,
};

pub(crate) const VECTOR_ADD: &str = include_str!("../../examples/kernels/vector_add.ptx");
pub(crate) const SPIN: &str = include_str!("../kernels/spin.ptx");
pub(crate) const SHARED_DYNAMIC: &str = include_str!("../kernels/shared_dynamic.ptx");
pub(crate) const PARAMS: &str = include_str!("../kernels/params.ptx");
pub(crate) const CONST_MEMORY: &str = include_str!("../kernels/const_memory.ptx");
pub(crate) const FUNCTIONS: &str = include_str!("../kernels/functions.ptx");
pub(crate) const DEVICE_RUNTIME: &str = include_str!("../kernels/device_runtime.ptx");
pub(crate) const GRID_SYNC: &str = include_str!("../kernels/grid_sync.ptx");
pub(crate) const CLUSTERS: &str = include_str!("../kernels/clusters.ptx");
pub(crate) const BULK_COPIES: &str = include_str!("../kernels/bulk_copies.ptx");
pub(crate) const DEPENDENT: &str = include_str!("../kernels/dependent.ptx");
pub(crate) const MATRIX: &str = include_str!("../kernels/matrix.ptx");
pub(crate) const FAULTS: &str = include_str!("../kernels/faults.ptx");

/// The kernel of that name of a PTX text.
pub(crate) fn load(context: &Context, ptx: &str, name: &str) -> Function {
    let module = context.load_ptx(ptx).expect("the module loads");
    module.function(name).expect("the kernel is in the module")
}

/// `sum = a + b`.
#[derive(Clone, Debug)]
pub(crate) struct VectorAdd(Function);

impl VectorAdd {
    pub(crate) fn load(context: &Context) -> Self {
        Self(load(context, VECTOR_ADD, "vector_add"))
    }

    pub(crate) fn run<S: AnyStream>(
        &self,
        stream: &S,
        a: DeviceSlice<'_, f32>,
        b: DeviceSlice<'_, f32>,
        sum: DeviceSliceMut<'_, f32>,
    ) -> Result<()> {
        let n = u32::try_from(sum.len())?;
        assert!(a.len() == sum.len() && b.len() == sum.len());
        let config = LaunchConfig::for_len(sum.len());
        // SAFETY: the kernel reads `a` and `b` and writes `sum`, each below index `n`, which is the length of all.
        unsafe { self.0.launch(stream, config, (a, b, sum, n)) }
    }
}

/// `x += value`, after that many steps of computation.
#[derive(Clone, Debug)]
pub(crate) struct SlowAdd {
    function: Function,
    steps: u32,
}

impl SlowAdd {
    pub(crate) fn load(context: &Context, steps: u32) -> Self {
        Self {
            function: load(context, SPIN, "delay_then_add"),
            steps,
        }
    }

    pub(crate) fn run<S: AnyStream>(
        &self,
        stream: &S,
        mut x: DeviceSliceMut<'_, f32>,
        value: f32,
    ) -> Result<()> {
        let n = u32::try_from(x.len())?;
        let config = LaunchConfig::for_len(x.len());
        // SAFETY: the kernel changes `x` below index `n`, which is its length.
        unsafe {
            self.function
                .launch(stream, config, (&mut x, n, value, self.steps))
        }
    }

    /// Keeps the stream busy with memory that nothing else uses.
    pub(crate) fn occupy<S: AnyStream>(
        &self,
        stream: &S,
        scratch: &mut DeviceAllocation<f32>,
    ) -> Result<()> {
        self.run(stream, scratch.as_mut_slice(), 1.0)
    }
}
