/**
 * With these Node collects garbage before the heap has more than doubled, instead of after it has quadrupled, and once more when the process comes to rest
 * (docs/decisions/memory.md). The API and the worker run with them, here and in `docker-compose.yml`.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--import=./worker/collect-when-idle.ts'];

/**
 * glibc's own first threshold, as a fixed number: left to itself it rises with the largest block that was ever freed, and what is freed below it stays with
 * the process. Read by no program of this project, but by the allocator of their process.
 */
export const memoryEnvironment = { MALLOC_TRIM_THRESHOLD_: '131072' };
