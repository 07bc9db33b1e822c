/** A process of the local stack. If `worker` is started, the API runs no worker inside. */
export type ServiceName = 'postgres' | 'temporal' | 'ai' | 'api' | 'worker';

/** The names of the services for the user. */
export const serviceNames: Record<ServiceName, string> = {
  postgres: 'Postgres',
  temporal: 'Temporal',
  ai: 'AI service',
  api: 'API with worker',
  worker: 'Worker',
};
