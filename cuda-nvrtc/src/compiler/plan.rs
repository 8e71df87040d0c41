//! What is made, and for which architecture.

use cuda_driver::ComputeCapability;

use crate::architecture::Architecture;
use crate::error::{Error, ErrorKind, Result};
use crate::nvrtc::Nvrtc;
use crate::options::{CompileOptions, Output};

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Unknown,
    Device {
        capability: ComputeCapability,
        is_simulated: bool,
    },
}

/// What is made; without an architecture, for the compiler's default one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) output: Output,
    pub(super) architecture: Option<Architecture>,
}

impl Target {
    /// What the plan follows from, but for the compiler.
    pub(super) fn describe(self, options: &CompileOptions) -> String {
        let architecture = options.architecture.map(|it| it.to_string());
        format!("{self:?} {:?} {architecture:?}", options.output)
    }

    /// The plan for this compiler.
    pub(super) fn plan(self, nvrtc: &Nvrtc, options: &CompileOptions) -> Result<Plan> {
        if let Some(architecture) = options.architecture {
            return self.plan_for(architecture, nvrtc, options.output);
        }
        let Self::Device {
            capability,
            is_simulated,
        } = self
        else {
            let output = options.output.unwrap_or(Output::Ptx);
            if output == Output::Cubin {
                return Err(Error::invalid(
                    "a cubin is made for one architecture, and none was given",
                )
                .remedied_by("set `CompileOptions::architecture`, or compile for a device"));
            }
            return Ok(Plan {
                output,
                architecture: None,
            });
        };
        let native = if is_simulated {
            Output::Ptx
        } else {
            Output::Cubin
        };
        let output = options.output.unwrap_or(native);
        let wanted = Architecture::of(capability);
        let supported = nvrtc.supported()?;
        let newest = supported.iter().rfind(|&&it| it <= wanted.number());
        match newest {
            Some(&number) if number == wanted.number() => Ok(Plan {
                output,
                architecture: Some(wanted),
            }),
            // The driver makes code for the newer device from PTX.
            Some(&number) if options.output != Some(Output::Cubin) => Ok(Plan {
                output: match output {
                    Output::Cubin => Output::Ptx,
                    other => other,
                },
                architecture: Some(Architecture::from_number(number)),
            }),
            _ => Err(unsupported(wanted, nvrtc, &supported)),
        }
    }

    /// The plan when the architecture was given.
    fn plan_for(
        self,
        architecture: Architecture,
        nvrtc: &Nvrtc,
        output: Option<Output>,
    ) -> Result<Plan> {
        // A compiler that cannot tell is asked by compiling.
        if let Ok(supported) = nvrtc.supported()
            && !supported.contains(&architecture.number())
        {
            return Err(unsupported(architecture, nvrtc, &supported));
        }
        let is_of_device = match self {
            Self::Device {
                capability,
                is_simulated,
            } => !is_simulated && capability == architecture.capability(),
            Self::Unknown => false,
        };
        let default = if is_of_device {
            Output::Cubin
        } else {
            Output::Ptx
        };
        Ok(Plan {
            output: output.unwrap_or(default),
            architecture: Some(architecture),
        })
    }
}

impl Plan {
    /// The arguments for it.
    pub(super) fn arguments(&self) -> Vec<String> {
        let prefix = match self.output {
            Output::Cubin => "sm_",
            Output::Ptx | Output::LtoIr => "compute_",
        };
        let mut arguments = Vec::new();
        if let Some(architecture) = self.architecture {
            arguments.push(format!("--gpu-architecture={prefix}{architecture}"));
        }
        if self.output == Output::LtoIr {
            arguments.push("--dlink-time-opt".into());
        }
        arguments
    }
}

#[cold]
fn unsupported(wanted: Architecture, nvrtc: &Nvrtc, supported: &[u32]) -> Error {
    let list: Vec<String> = supported.iter().map(u32::to_string).collect();
    let version = nvrtc.version();
    let error = Error::new(
        ErrorKind::UnsupportedArchitecture,
        format!(
            "NVRTC {version} makes no code for the architecture {wanted}, only for {}",
            list.join(", ")
        ),
    );
    match supported {
        [oldest, ..] if wanted.number() < *oldest => {
            error.remedied_by("install an older NVRTC; CUDA 12 is the last one for compute capabilities 5.0 to 7.2")
        }
        _ => error.remedied_by("install a newer NVRTC, or compile PTX for an older architecture, which the driver compiles on"),
    }
}
