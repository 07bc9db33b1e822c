/**
 * With these Node collects garbage before the heap has doubled instead of after it has quadrupled (docs/decisions/memory.md). The API and the
 * worker run with them, here and in `docker-compose.yml`.
 */
export const memoryFlags = ['--max-semi-space-size=4', '--heap-growing-percent=30'];
