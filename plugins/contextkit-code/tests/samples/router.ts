/** Where a request goes. */
export interface Route {
  path: string;
  handle(request: Request): Promise<Response>;
}

/** What a route may do. */
export type Method = "GET" | "POST";

export enum Status {
  Ok = 200,
  Missing = 404,
}

export abstract class Router<T extends Route> {
  private routes: T[] = [];

  /** Register a route. */
  register(route: T): this {
    this.routes.push(route);
    return this;
  }

  protected abstract match(path: string): T | undefined;
}

export namespace paths {
  /** Join two parts. */
  export function join(left: string, right: string): string {
    return `${left}/${right}`;
  }
}

export const normalise = async (path: string): Promise<string> => path.trim();

declare function fetchRoute(path: string): Route;
