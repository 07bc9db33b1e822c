import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

/**
 * Something that is done once at a time: a second click may come before its button is drawn as busy. `onShown` is called once it is done,
 * but only while what uses this is on the page: a dialog that is gone must not close the next one.
 */
export function useTask<T = void>(options: UseMutationOptions<unknown, Error, T>, onShown?: () => void) {
  const isRunning = useRef(false);
  const { mutate, ...state } = useMutation(options);
  const begin = (input: T) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutate(input, {
      onSuccess: () => onShown?.(),
      onSettled: () => {
        isRunning.current = false;
      },
    });
  };
  return { ...state, mutate: begin };
}
