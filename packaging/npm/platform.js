// Finds the program, which is in a package of its own for each platform.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { optionalDependencies, version } = require("./package.json");

const scope = "@askback/";
const file = { win32: "askback.exe" }[process.platform] ?? "askback";

// manifests returns where the package.json of a package can be: package managers install it in this package or in the
// same node_modules. Node would also search folders above and NODE_PATH, which can have the program of another user.
function manifests(name) {
  if (process.versions.pnp) return [require.resolve(`${name}/package.json`)]; // Yarn without node_modules
  const folders = [path.join(__dirname, "node_modules")];
  const above = path.dirname(__dirname);
  if (path.basename(above) === "node_modules") folders.push(above);
  return folders.map((folder) => path.join(folder, name, "package.json"));
}

// locate returns the folder of a package, if it is installed in the version of this package.
function locate(name) {
  try {
    const found = manifests(name).find((file) => fs.existsSync(file));
    if (found && JSON.parse(fs.readFileSync(found, "utf8")).version === version) return path.dirname(found);
  } catch {
    // The package is not installed, or is damaged.
  }
  return undefined;
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
  const folder = locate(scope + here);
  const program = folder && path.join(folder, "bin", file);
  if (program && fs.existsSync(program)) return { program };
  const other = wanted.find((name) => name !== scope + here && locate(name));
  if (other) {
    return {
      problem: `this node_modules is of another platform: it has ${other}, but this is ${here}. Remove ` +
        "node_modules and install again on this machine; if that does not help, remove package-lock.json too",
    };
  }
  return {
    problem: `the program is missing, because npm did not install the optional package ${scope}${here} ${version} ` +
      `(--omit=optional, --no-optional, or a package-lock.json of another platform). Install it: npm install ` +
      `--include=optional askback@${version}, with -g for all folders; if that does not help, remove ` +
      "node_modules and package-lock.json first",
  };
}

module.exports = { find };
