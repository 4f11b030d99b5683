// SPDX-License-Identifier: MIT OR Apache-2.0
/** Settles like `promise`, or with `undefined` after `msMax`, or if the promise rejects. The timer keeps no process alive. */
export async function bounded<T>(promise: Promise<T>, msMax: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), msMax);
  });
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
