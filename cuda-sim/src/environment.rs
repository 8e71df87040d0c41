//! Settings from environment variables, for programs that cannot call the [`Builder`].

mod devices;
mod value;

use std::time::Duration;

use crate::builder::Builder;

/// A variable of the environment that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot configure the software driver: {variable}={value:?}: {reason}")]
#[non_exhaustive]
pub struct EnvironmentError {
    /// The variable.
    pub variable: &'static str,
    /// What it holds.
    pub value: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}

impl Builder {
    /// What the environment asks for; the defaults where it asks for nothing.
    ///
    /// | variable | example | meaning |
    /// |---|---|---|
    /// | `CUDA_SIM_DEVICES` | `2 h200, t4 memory=4G` | the devices, separated by commas: see below; `0` for none |
    /// | `CUDA_SIM_MEMORY` | `512M` | memory of every device |
    /// | `CUDA_SIM_SEED` | `7` | [`seed`](Self::seed) |
    /// | `CUDA_SIM_DRIVER_VERSION` | `12.4` or `12040` | [`driver_version`](Self::driver_version) |
    /// | `CUDA_SIM_INSTRUCTION_LIMIT` | `1000000` | [`instruction_limit`](Self::instruction_limit) |
    /// | `CUDA_SIM_TIME_LIMIT` | `60` | [`time_limit`](Self::time_limit), in seconds |
    /// | `CUDA_SIM_NOTICE_AFTER` | `5` | [`notice_after`](Self::notice_after), in seconds; `0` for never |
    /// | `CUDA_SIM_WAIT_PATIENCE` | `60` | [`wait_patience`](Self::wait_patience), in seconds |
    /// | `CUDA_SIM_DEFERRED` | `0` | [`deferred`](Self::deferred) |
    /// | `CUDA_SIM_REUSE_HANDLES` | `0` | [`reuse_handles`](Self::reuse_handles) |
    /// | `CUDA_SIM_SHUFFLE_BLOCKS` | `1` | [`shuffle_blocks`](Self::shuffle_blocks) |
    /// | `CUDA_SIM_OLD_DRIVER` | `1` | [`old_driver`](Self::old_driver) |
    /// | `CUDA_SIM_CHECK_ORDER` | `0` | [`check_order`](Self::check_order) |
    /// | `CUDA_SIM_WATCH_HOST` | `0` | [`watch_host`](Self::watch_host) |
    /// | `CUDA_SIM_RACECHECK` | `1` | [`racecheck`](Self::racecheck) |
    /// | `CUDA_SIM_GLOBAL_RACES` | `1` | [`global_races`](Self::global_races) |
    /// | `CUDA_SIM_INITCHECK` | `1` | [`initcheck`](Self::initcheck) |
    /// | `CUDA_SIM_SYNCCHECK` | `1` | [`synccheck`](Self::synccheck) |
    /// | `CUDA_SIM_CALL_SITES` | `1` | [`call_sites`](Self::call_sites) |
    /// | `CUDA_VISIBLE_DEVICES` | `1,0` or `GPU-63756461` | which of those devices the program sees, in its order, as with a real driver |
    ///
    /// A device is a count (1 if absent), a preset (`h200` if absent, `b200`, `a100`, `rtx4090`, `t4`), and settings, separated by spaces:
    /// `name="My GPU"`, `cc=8.6`, `memory=4G`, `multiprocessors=8`, `shared_memory=48K`, `shared_memory_optin=96K`, `pci=0000:17:00`,
    /// `uuid=GPU-00112233-4455-6677-8899-aabbccddeeff`, and any attribute by number or by the C name without `CU_DEVICE_ATTRIBUTE_`,
    /// as in `CONCURRENT_KERNELS=0`. Numbers of bytes may end in `K`, `M`, `G` or `T`, powers of 1024.
    ///
    /// ```
    /// let simulator = cuda_sim::Builder::from_environment()?.build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first variable that cannot be understood.
    pub fn from_environment() -> Result<Self, EnvironmentError> {
        Self::from_variables(&|variable| match std::env::var(variable) {
            Ok(value) => Ok(Some(value)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(value)) => Err(EnvironmentError {
                variable,
                value: value.to_string_lossy().into_owned(),
                reason: String::from("it is not valid UTF-8"),
            }),
        })
    }

    fn from_variables(read: &Read<'_>) -> Result<Self, EnvironmentError> {
        let mut builder = Self::default();
        if let Some(devices) = given(read, "CUDA_SIM_DEVICES", devices::parse)? {
            builder = builder.devices(devices);
        }
        if let Some(visible) = read("CUDA_VISIBLE_DEVICES")? {
            builder = builder.select_devices(|all| devices::visible(all, &visible));
        }
        if let Some(bytes) = given(read, "CUDA_SIM_MEMORY", value::bytes)? {
            builder = builder.memory_limit(bytes);
        }
        if let Some(seed) = given(read, "CUDA_SIM_SEED", value::number)? {
            builder = builder.seed(seed);
        }
        if let Some(version) = given(read, "CUDA_SIM_DRIVER_VERSION", value::version)? {
            builder = builder.driver_version(version);
        }
        if let Some(limit) = given(read, "CUDA_SIM_INSTRUCTION_LIMIT", value::number)? {
            builder = builder.instruction_limit(limit);
        }
        if let Some(seconds) = given(read, "CUDA_SIM_TIME_LIMIT", value::number)? {
            builder = builder.time_limit(Duration::from_secs(seconds));
        }
        if let Some(seconds) = given(read, "CUDA_SIM_NOTICE_AFTER", value::number)? {
            let never = Duration::MAX;
            let age = Some(seconds).filter(|it| *it > 0).map(Duration::from_secs);
            builder = builder.notice_after(age.unwrap_or(never));
        }
        if let Some(seconds) = given(read, "CUDA_SIM_WAIT_PATIENCE", value::number)? {
            builder = builder.wait_patience(Duration::from_secs(seconds));
        }
        let switches: [(_, Switch); 11] = [
            ("CUDA_SIM_DEFERRED", Self::deferred),
            ("CUDA_SIM_REUSE_HANDLES", Self::reuse_handles),
            ("CUDA_SIM_SHUFFLE_BLOCKS", Self::shuffle_blocks),
            ("CUDA_SIM_OLD_DRIVER", Self::old_driver),
            ("CUDA_SIM_CHECK_ORDER", Self::check_order),
            ("CUDA_SIM_WATCH_HOST", Self::watch_host),
            ("CUDA_SIM_RACECHECK", Self::racecheck),
            ("CUDA_SIM_GLOBAL_RACES", Self::global_races),
            ("CUDA_SIM_INITCHECK", Self::initcheck),
            ("CUDA_SIM_SYNCCHECK", Self::synccheck),
            ("CUDA_SIM_CALL_SITES", Self::call_sites),
        ];
        for (variable, set) in switches {
            if let Some(on) = given(read, variable, value::switch)? {
                builder = set(builder, on);
            }
        }
        Ok(builder)
    }
}

/// Sets what is on or off.
type Switch = fn(Builder, bool) -> Builder;

/// Reads a variable.
type Read<'a> = dyn Fn(&'static str) -> Result<Option<String>, EnvironmentError> + 'a;

/// The value of a variable that is set to more than blanks.
fn given<T>(
    read: &Read<'_>,
    variable: &'static str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, EnvironmentError> {
    let Some(value) = read(variable)?.filter(|value| !value.trim().is_empty()) else {
        return Ok(None);
    };
    match parse(value.trim()) {
        Ok(parsed) => Ok(Some(parsed)),
        Err(reason) => Err(EnvironmentError {
            variable,
            value,
            reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(variables: &[(&str, &str)]) -> Result<Builder, EnvironmentError> {
        Builder::from_variables(&|wanted| {
            let found = variables.iter().find(|(variable, _)| *variable == wanted);
            Ok(found.map(|(_, value)| (*value).to_owned()))
        })
    }

    fn names(variables: &[(&str, &str)]) -> Vec<String> {
        let settings = build(variables).expect("understood").settings;
        let names = settings.devices.into_iter().map(|device| device.name);
        names
            .map(|name| name.replace("NVIDIA ", "").replace(" (simulated)", ""))
            .collect()
    }

    #[test]
    fn an_empty_environment_gives_the_defaults() {
        assert_eq!(names(&[]), ["H200"]);
        assert_eq!(names(&[("CUDA_SIM_DEVICES", "  ")]), ["H200"]);
    }

    #[test]
    fn every_variable_is_taken() {
        let settings = build(&[
            ("CUDA_SIM_DEVICES", "t4 memory=2G, a100"),
            ("CUDA_SIM_MEMORY", "512M"),
            ("CUDA_SIM_SEED", "7"),
            ("CUDA_SIM_DRIVER_VERSION", "12.4"),
            ("CUDA_SIM_INSTRUCTION_LIMIT", "1000"),
            ("CUDA_SIM_WAIT_PATIENCE", "60"),
            ("CUDA_SIM_TIME_LIMIT", "90"),
            ("CUDA_SIM_NOTICE_AFTER", "0"),
            ("CUDA_SIM_DEFERRED", "off"),
            ("CUDA_SIM_REUSE_HANDLES", "0"),
            ("CUDA_SIM_SHUFFLE_BLOCKS", "on"),
            ("CUDA_SIM_OLD_DRIVER", "1"),
            ("CUDA_SIM_WATCH_HOST", "off"),
            ("CUDA_SIM_RACECHECK", "1"),
            ("CUDA_SIM_GLOBAL_RACES", "1"),
            ("CUDA_SIM_INITCHECK", "1"),
            ("CUDA_SIM_SYNCCHECK", "on"),
        ])
        .expect("understood")
        .settings;
        let memory: Vec<u64> = settings.devices.iter().map(|it| it.total_memory).collect();
        assert_eq!(memory, [512 << 20; 2]);
        assert_eq!((settings.seed, settings.driver_version), (7, 12_040));
        let options = settings.options;
        assert_eq!(options.limits.instructions, 1000);
        assert_eq!(options.limits.time, Some(Duration::from_secs(90)));
        assert_eq!(options.limits.notice, None);
        assert_eq!(options.wait_patience, Duration::from_secs(60));
        assert!(!options.deferred && !options.reuse_handles && !options.watch_host);
        assert!(options.shuffle_blocks && options.old_driver);
        assert!(options.checks.race && options.checks.global_race && options.checks.sync);
        assert!(options.checks.unwritten);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let error = build(&[("CUDA_SIM_SEED", "seven")]).expect_err("no number");
        assert_eq!(
            (error.variable, error.value.as_str()),
            ("CUDA_SIM_SEED", "seven")
        );
        let text = error.to_string();
        assert!(
            text.contains("CUDA_SIM_SEED=\"seven\": it is no number"),
            "{text}"
        );
    }

    #[test]
    fn visible_devices_are_chosen_as_by_a_real_driver() {
        let visible = |list: &str| {
            names(&[
                ("CUDA_SIM_DEVICES", "h200, a100, t4"),
                ("CUDA_VISIBLE_DEVICES", list),
            ])
        };
        assert_eq!(visible("2,0"), ["T4", "H200"]);
        assert_eq!(visible(""), [""; 0]);
        assert_eq!(visible("-1"), [""; 0]);
        assert_eq!(
            visible("1,9,0"),
            ["A100"],
            "the list ends at what is not there"
        );
        assert_eq!(visible("1,1"), [""; 0], "twice the same shows none");
        // "cuda-sim device" and the ordinal, in hexadecimal digits.
        assert_eq!(visible("GPU-63756461-2d73-696d-2064-657669636502"), ["T4"]);
        assert_eq!(visible("GPU-6375"), [""; 0], "which of the three?");
    }

    #[test]
    fn a_visible_device_keeps_its_identity() {
        let variables = [("CUDA_SIM_DEVICES", "3"), ("CUDA_VISIBLE_DEVICES", "2")];
        let devices = build(&variables).expect("understood").settings.devices;
        let device = devices.first().expect("one device");
        assert_eq!(device.pci, Some((0, 0x12, 0)));
        assert_eq!(device.uuid.map(|uuid| uuid[15]), Some(2));
    }
}
