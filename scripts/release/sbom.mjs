// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the software bill of materials of the npm packages and the addon, in CycloneDX's JSON. npm writes it for the npm packages; the
// crates of the addon are added. The JVM's artifacts have their own.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";

/** Returns a UUID that depends only on `text`, in the form of version 8 (RFC 9562). */
function uuidOf(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16], 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** Returns what npm knows about the run-time dependencies of these packages, from the lock file in `at`. */
function npmSbom(at, names) {
  const args = [
    "sbom",
    "--sbom-format=cyclonedx",
    "--package-lock-only",
    "--omit=dev",
    ...names.flatMap((name) => ["-w", name]),
  ];
  return JSON.parse(execFileSync("npm", args, { cwd: at, encoding: "utf8", maxBuffer: 1 << 28 }));
}

const crateComponent = ({ name, version, license, checksum }) => ({
  "bom-ref": `cargo:${name}@${version}`,
  type: "library",
  name,
  version,
  scope: "required",
  purl: `pkg:cargo/${name}@${version}`,
  ...(license && { licenses: [{ expression: license.replaceAll("/", " OR ") }] }),
  ...(checksum && { hashes: [{ alg: "SHA-256", content: checksum }] }),
});

/**
 * Returns the document. `names` are npm packages of the workspace in `at`, and `crates` the crates in the addon, with the `needs` of each.
 * The same input gives the same document.
 */
export function sbom({ at, version, names, crates, time }) {
  const bom = npmSbom(at, names);
  const root = `clearway-release@${version}`;
  const refs = bom.components.map((each) => each["bom-ref"]);
  const packages = names.map((name) => refs.find((ref) => ref.startsWith(`${name}@`))).filter(Boolean);
  for (const component of bom.components) {
    // npm writes the host of the registry in use, which may be a mirror. `purl` names the package.
    component.externalReferences = component.externalReferences.filter(({ type }) => type !== "distribution");
  }
  bom.components.push(...crates.map(crateComponent));
  const known = new Set([...refs, ...crates.map(({ name, version }) => `cargo:${name}@${version}`)]);
  const dependencies = bom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
  dependencies.unshift({ ref: root, dependsOn: packages });
  for (const { name, version, needs } of crates)
    dependencies.push({ ref: `cargo:${name}@${version}`, dependsOn: needs.map((each) => `cargo:${each}`) });
  const addon = crates.find(({ name }) => name === "clearway-node");
  const native = dependencies.find(({ ref }) => ref.startsWith("clearway-native@"));
  if (addon && native) native.dependsOn.push(`cargo:${addon.name}@${addon.version}`);
  const body = {
    ...bom,
    metadata: {
      timestamp: time,
      lifecycles: bom.metadata.lifecycles,
      tools: bom.metadata.tools,
      component: {
        "bom-ref": root,
        type: "application",
        name: "clearway-release",
        version,
        licenses: [{ expression: "MIT OR Apache-2.0" }],
      },
    },
    dependencies,
  };
  return { ...body, serialNumber: `urn:uuid:${uuidOf(JSON.stringify({ ...body, serialNumber: undefined }))}` };
}
