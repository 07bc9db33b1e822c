import { ActionIcon, Menu, Text } from '@mantine/core';
import IconDots from '@tabler/icons-react/icons/IconDots';
import { type QueryKey, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { queryClient } from '../queries.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';

export interface RowAction {
  label: string;
  isDangerous?: boolean;
  /** What is said once it is done, where nothing else shows that. */
  done?: string;
  /** What it does at once; a promise is waited for, and if it fails, that is said. */
  run: () => unknown;
}

interface RowMenuProps {
  /** What the row is about. */
  name: string;
  actions: (RowAction | false | undefined)[];
  /** What is read again, however an action ended. */
  changes?: QueryKey;
}

/** What can be done with a row. The focus is on its button before anything is done, so that a dialog gives it back there. */
export function RowMenu({ name, actions, changes }: RowMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const { mutate, isPending, isSuccess, error, variables, reset } = useMutation({
    mutationFn: async ({ run }: RowAction) => run(),
    onSettled: () => changes && queryClient.invalidateQueries({ queryKey: changes }),
  });
  const offered = actions.filter((action) => !!action);
  if (offered.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            ref={button}
            size={26}
            display="block"
            ml="auto"
            variant="subtle"
            color="gray"
            c="dimmed"
            loading={isPending}
            aria-label={t.common.actionsOf(name)}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {offered.map((action) => (
            <Menu.Item
              key={action.label}
              {...(action.isDangerous ? { c: 'var(--mantine-color-error)' } : {})}
              onClick={() => {
                button.current?.focus();
                mutate(action);
              }}
            >
              {action.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {isSuccess && variables.done && (
        <Text role="status" size="xs" c="dimmed">
          {variables.done}
        </Text>
      )}
      {error && (
        <Dialog title={variables?.label ?? ''} onClose={reset}>
          <Failure error={error} />
        </Dialog>
      )}
    </>
  );
}
