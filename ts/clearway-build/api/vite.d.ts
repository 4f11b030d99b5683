import { Plugin } from 'vite';

/**
 * The plugin for Vite: `import clearway from "clearway-build/vite"`. It also works in Vitest.
 *
 * @module clearway-build/vite
 */

/**
 * Moves the functions in calls of `offload()` to task files. Vite serves and builds them as files of workers.
 *
 * Works in `vite dev` and `vite build`, for browsers and for servers, and in Vitest. The build fails, and the dev server shows an error, for
 * a function that cannot move to a worker.
 */
declare function clearway(): Plugin;

export { clearway as default };
