import { Text, type TextProps } from '@mantine/core';
import type { ComponentPropsWithoutRef } from 'react';

/** A text of others: long words break, and its direction stays inside. */
export function Foreign(props: TextProps & Omit<ComponentPropsWithoutRef<'p'>, keyof TextProps>) {
  return <Text {...props} className="foreign" />;
}
