import { Plugin } from 'esbuild';

/**
 * The plugin for esbuild: `import clearway from "clearway-build/esbuild"`. For bundles in the format `esm`, and `cjs` in Node.
 *
 * @module clearway-build/esbuild
 */

/**
 * Moves the functions in calls of `offload()` to task files. Each task file becomes a bundle of its own, next to the app's.
 *
 * The build fails for a function that cannot move to a worker.
 */
declare function clearway(): Plugin;

export { clearway as default };
