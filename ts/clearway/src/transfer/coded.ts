// SPDX-License-Identifier: MIT OR Apache-2.0

// A table, and a value with instances of transfer handlers, cross as content that the other side turns back into the value. The frame says
// so, outside of the value (`transport/protocol.ts`). Nothing in a value of the app can say it.

/** How the other side reads the content of a value. The numbers are part of the wire format. */
export enum Form {
  /** As it is. */
  plain = 0,
  /** As a table (`clearway/records`). */
  table = 1,
  /** By transfer handlers (`clearway/transfer`). */
  handled = 2,
  /** As a promise of the value, whose pieces come through ports of their own. Never in a frame. */
  sliced = 3,
}

// The entries of the package are bundled separately. No value that arrives has a property with a symbol as its key.
const codedKey: unique symbol = Symbol.for("clearway.coded");

/** A value that has arrived in another form than `plain`, and is not read yet. Never leaves this thread. */
export class CodedValue {
  readonly [codedKey] = true;

  constructor(
    readonly form: Form,
    readonly content: unknown,
  ) {}
}

/** Returns whether a value that has arrived is not read yet. */
export function isCoded(value: unknown): value is CodedValue {
  return value !== null && typeof value === "object" && codedKey in value;
}

/** Returns a value that has arrived in this form. The reader of the content checks it. */
export function codedAs(form: Form | undefined, content: unknown): unknown {
  return form ? new CodedValue(form, content) : content;
}

/** Returns the values of a list that have arrived in these forms. */
export function allCodedAs(forms: readonly Form[] | undefined, values: readonly unknown[]): readonly unknown[] {
  return forms ? values.map((value, at) => codedAs(forms[at], value)) : values;
}

/** Returns the forms for a message, or undefined if all are plain. */
export function formsOf(forms: readonly Form[]): readonly Form[] | undefined {
  return forms.some((form) => form !== Form.plain) ? forms : undefined;
}
