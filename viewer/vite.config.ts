import { defineConfig } from 'vite';

// Built into the crate that serves it; relative addresses, because a token comes first in the path.
export default defineConfig({
  base: './',
  build: {
    outDir: '../crates/toile-view/page',
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 900,
  },
});
