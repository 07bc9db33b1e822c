import { SegmentedControl } from '@mantine/core';
import { t } from '../text.ts';

interface FilterProps<T extends string> {
  label: string;
  /** What each value is called. */
  values: Record<T, string>;
  value: T | undefined;
  onChange: (value: T | undefined) => void;
}

/** One of several values, or all. */
export function Filter<T extends string>({ label, values, value, onChange }: FilterProps<T>) {
  const data = Object.entries<string>({ all: t.common.all, ...values }).map(([each, name]) => ({ value: each, label: name }));
  return (
    <div className="scrolls">
      <SegmentedControl
        size="xs"
        aria-label={label}
        data={data}
        value={value ?? 'all'}
        onChange={(next) => onChange(next === 'all' ? undefined : (next as T))}
      />
    </div>
  );
}
