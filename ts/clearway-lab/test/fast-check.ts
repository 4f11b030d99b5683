// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives property tests the same seed in every run, so that a test fails because of a change and not by chance. A new seed is chosen with
// CLEARWAY_FUZZ_SEED=random. A failing test prints its seed, and CLEARWAY_FUZZ_SEED=SEED repeats it.
import fc from "fast-check";

const given = process.env["CLEARWAY_FUZZ_SEED"];
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given ?? 20_260_102) });

export { fc as default };
