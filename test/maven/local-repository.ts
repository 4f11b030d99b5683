// SPDX-License-Identifier: MIT OR Apache-2.0
// A local Maven repository for one test. It shares the other groups' artifacts with the user's own repository, so that nothing is downloaded
// twice and nothing of Clearway stays there.
import { mkdir, readdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const shared = join(homedir(), ".m2/repository");

/** Links all entries of `from` into `to`, except those on the path `own`, which becomes a folder of its own. */
async function link(from: string, to: string, [own, ...rest]: string[]): Promise<void> {
  await mkdir(to, { recursive: true });
  const entries = await readdir(from).catch(() => []);
  for (const name of entries.filter((each) => each !== own)) await symlink(join(from, name), join(to, name));
  if (own !== undefined && rest.length > 0) await link(join(from, own), join(to, own), rest);
}

/** Creates the repository in `folder`. It has no artifact of `group`. */
export const makeLocalRepository = (folder: string, group: string): Promise<void> =>
  link(shared, folder, group.split("."));
