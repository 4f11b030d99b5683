import { Plugin } from 'rollup';

/**
 * The plugin for Rollup: `import clearway from "clearway-build/rollup"`. For output in the format `es`.
 *
 * @module clearway-build/rollup
 */

/**
 * Moves the functions in calls of `offload()` to task files, which become chunks of the bundle.
 *
 * Works before and after a plugin that compiles TypeScript. The build fails for a function that cannot move to a worker.
 */
declare function clearway(): Plugin;

export { clearway as default };
