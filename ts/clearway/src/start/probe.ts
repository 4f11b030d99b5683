// SPDX-License-Identifier: MIT OR Apache-2.0
// The package contains this file as it is. A worker can import it only if a loader such as tsx compiles TypeScript there: Node's own type
// stripping refuses an enum.
export enum Probe {
  Loaded = 1,
}
