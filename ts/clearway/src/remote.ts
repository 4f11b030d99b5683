// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * For authors of pools whose workers are elsewhere: how errors cross, what `move()` marks, how options are checked, how
 * sources are read, and the object of functions for any task. Apps use a package that is built on it, such as
 * `clearway-nats`.
 *
 * @module clearway/remote
 */

export { onAbort } from "#host";
export { errorFromPlain, errorToPlain, unmoved } from "./channel/wire/error-body.js";
export { checked, type Rule, type Rules, type Test } from "./error/checked.js";
export { ClearwayError, caused, invalid, type RemoteErrorCode, remoteErrorCodes } from "./error/clearway-error.js";
export { asyncIteratorOf } from "./host/async-iterable.js";
export { byName } from "./pool/by-name.js";
