// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The error codes that only channels use. These codes are in a separate file, so that an app without channels does not load them. The page
 * spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
export const channelErrorCodes = [
  /** the other end's handler for the channel has no such method; for a foreign end, there may be no handler */
  "not-implemented",
  /** the other end has no handler for the channel */
  "no-handler",
  /** the transport closed, and the call or stream ended with it */
  "transport-closed",
] as const;

/** One of the codes of {@link channelErrorCodes}. */
export type ChannelErrorCode = (typeof channelErrorCodes)[number];
