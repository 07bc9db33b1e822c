/**
 * With these Node collects garbage before the heap has more than doubled, instead of after it has quadrupled, and once more when the process comes to rest
 * (docs/decisions/memory.md). The API and the worker run with them, here and in `docker-compose.yml`.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=100', '--import=./worker/collect-when-idle.ts'];
