// Finds the program, which is in a package of its own for each platform.
"use strict";

const { optionalDependencies, version } = require("./package.json");

const scope = "@askback/";
const file = { win32: "askback.exe" }[process.platform] ?? "askback";

// isInstalled reports whether the package of a platform is installed.
function isInstalled(name) {
  try {
    require.resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

// find returns the path of the program, or what is wrong and what to do.
function find() {
  const here = `${process.platform}-${process.arch}`;
  const wanted = Object.keys(optionalDependencies);
  if (!wanted.includes(scope + here)) {
    const names = wanted.map((name) => name.slice(scope.length)).join(", ");
    return {
      problem: `npm has no program for ${here}, only for ${names}; with Go, build it: ` +
        "go install github.com/askback/askback/cmd/askback@latest",
    };
  }
  try {
    return { program: require.resolve(`${scope}${here}/bin/${file}`) };
  } catch {
    const other = wanted.find(isInstalled);
    if (other) {
      return {
        problem: `this node_modules is of another platform: it has ${other}, but this is ${here}. Remove ` +
          "node_modules and install again on this machine; if that does not help, remove package-lock.json too",
      };
    }
    return {
      problem: `the program is missing, because npm did not install the optional package ${scope}${here} ` +
        `(--omit=optional, --no-optional, or a package-lock.json of another platform). Install it: npm install ` +
        `--include=optional askback@${version}, with -g for all folders; if that does not help, remove ` +
        "node_modules and package-lock.json first",
    };
  }
}

module.exports = { find };
