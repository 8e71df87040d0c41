//! Small numbers as elements of every type, and plain products of them.

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s4" => Self::S4,
            "u4" => Self::U4,
            "b1" => Self::B1,
            "s32" => Self::S32,
            other => panic!("{other}"),
        }
    }

    pub(crate) fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Tf32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    /// Elements of a register.
    pub(crate) fn each(self) -> usize {
        (32 / self.bits()).max(1)
    }

    /// A number of the type that every type of sums adds up without loss.
    pub(crate) fn pick(self, random: u32) -> f64 {
        let (low, span) = match self {
            Self::S8 => (-128, 256),
            Self::U8 => (0, 256),
            Self::S4 => (-8, 16),
            Self::U4 => (0, 16),
            Self::B1 => (0, 2),
            Self::S32 => (-100_000, 200_001),
            _ => (-4, 9),
        };
        f64::from(low + (random % span) as i32)
    }

    /// The bits of a number that the type has.
    pub(crate) fn encode(self, value: f64) -> u64 {
        let single = (value as f32).to_bits();
        // A shorter exponent and fraction; the numbers here need no more.
        let shorter = |exponent: u32, fraction: u32| {
            let bias = (1 << (exponent - 1)) - 1;
            let sign = u64::from(single >> 31) << (exponent + fraction);
            if value == 0.0 {
                return sign;
            }
            let rest = u64::from((single & 0x7fff_ffff) >> (23 - fraction));
            sign | (rest - ((127 - bias) << fraction))
        };
        match self {
            Self::F64 => value.to_bits(),
            Self::F32 | Self::Tf32 => u64::from(single),
            Self::F16 => shorter(5, 10),
            Self::Bf16 => shorter(8, 7),
            Self::E4m3 => shorter(4, 3),
            Self::E5m2 => shorter(5, 2),
            Self::S32 | Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::B1 => {
                value as i64 as u64 & (u64::MAX >> (64 - self.bits()))
            }
        }
    }
}

/// Rows and columns of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
}

impl Matrix {
    pub(crate) fn new(rows: usize, columns: usize, mut value: impl FnMut() -> f64) -> Self {
        let values = (0..rows * columns).map(|_| value()).collect();
        Self { columns, values }
    }

    pub(crate) fn random(rows: usize, columns: usize, kind: Kind, seed: u64) -> Self {
        let mut numbers = crate::support::numbers(rows * columns, seed).into_iter();
        Self::new(rows, columns, || kind.pick(numbers.next().unwrap()))
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// `self · other + sum`, where `times` multiplies.
    pub(crate) fn product(&self, other: &Self, sum: &Self, times: fn(f64, f64) -> f64) -> Self {
        let mut out = sum.clone();
        for (index, value) in out.values.iter_mut().enumerate() {
            let (row, column) = (index / sum.columns, index % sum.columns);
            for k in 0..self.columns {
                *value += times(self.at(row, k), other.at(k, column));
            }
        }
        out
    }
}
