//! Building and running the C and C++ tests with CMake.

use std::path::PathBuf;
use std::process::Command;

use crate::context::Context;
use crate::shell;

/// For ctest: all but the tests of the packages and those that only compile; sanitizers have no say in them.
pub(crate) const PROGRAMS: &[&str] = &["-E", "consumer|compile_fail|freestanding"];

/// One configuration of the C and C++ tests, in a build folder of its own.
pub(crate) struct Build<'a> {
    pub(crate) name: &'a str,
    pub(crate) compilers: (&'a str, &'a str),
    pub(crate) options: Vec<String>,
    pub(crate) environment: Vec<(&'a str, String)>,
}

impl<'a> Build<'a> {
    pub(crate) fn new(name: &'a str, compilers: (&'a str, &'a str)) -> Self {
        Self { name, compilers, options: Vec::new(), environment: Vec::new() }
    }

    pub(crate) fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    pub(crate) fn variable(mut self, name: &'a str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    pub(crate) fn folder(&self, context: &Context) -> Result<PathBuf, String> {
        context.scratch(&format!("cmake-{}", self.name))
    }

    /// The three calls: configure, build, run the tests that `selection` makes ctest choose.
    pub(crate) fn commands(&self, context: &Context, selection: &[&str]) -> Result<Vec<Command>, String> {
        let folder = self.folder(context)?;
        let mut configure = context.tool("cmake", "-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -S .");
        configure.arg("-B").arg(&folder).args(&self.options);
        configure.arg(format!("-DCMAKE_C_COMPILER={}", self.compilers.0));
        configure.arg(format!("-DCMAKE_CXX_COMPILER={}", self.compilers.1));
        let mut build = context.tool("cmake", "--build");
        build.arg(&folder);
        let mut test = context.tool("ctest", "--output-on-failure --no-tests=error -j 2 --test-dir");
        test.arg(&folder).args(selection);
        let mut commands = vec![configure, build, test];
        for command in &mut commands {
            command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        }
        Ok(commands)
    }

    /// All three in silence; answers how many tests passed.
    pub(crate) fn run(&self, context: &Context, selection: &[&str]) -> Result<String, String> {
        let mut output = String::new();
        for command in &mut self.commands(context, selection)? {
            output = shell::capture(command)?;
        }
        let (passed, _) = counts(&output);
        if passed == 0 {
            return Err(format!("{output}no test ran"));
        }
        Ok(format!("{passed} tests"))
    }
}

/// Passed and failed in what ctest wrote.
pub(crate) fn counts(output: &str) -> (u32, u32) {
    // "97% tests passed, 1 tests failed out of 33"
    let Some(line) = output.lines().rfind(|line| line.contains("tests failed out of")) else { return (0, 0) };
    let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [failed, all] => (all - failed, failed),
        _ => (0, 0),
    }
}
