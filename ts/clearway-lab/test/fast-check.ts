// SPDX-License-Identifier: MIT OR Apache-2.0
// Properties with one seed for every run, so that a change is what makes a test fail, and not the day.
// CLEARWAY_FUZZ_SEED=random looks further; the failing one is printed, and CLEARWAY_FUZZ_SEED=… plays it again.
import fc from "fast-check";

const given = process.env["CLEARWAY_FUZZ_SEED"];
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given ?? 20_260_102) });

export { fc as default };
