// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Whether workers can be child processes: true in Node. The build replaces this name, and then leaves out the code that a browser never
 * runs. A constant of `#host` would not do, because the functions that this code calls would stay.
 */
declare const hasProcesses: boolean;
