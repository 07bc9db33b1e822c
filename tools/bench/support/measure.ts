import type { Figure } from './figure.ts';
import type { Service } from './service.ts';

/** Measures one or more figures on a running service. */
export type Measure = (service: Service) => Promise<Figure[]>;
