// Where things stand on the test chain. Constants only: the builder places what is named here, tests and the
// local world find it by the same names. Imported by Node and by tests inside workerd, so it imports nothing.

export type Hex = `0x${string}`;

/** Base Sepolia's id: published clients pay only with assets they know, and they know its USDC. */
export const CHAIN_ID = 84532;
export const NETWORK = "eip155:84532";

export interface TestAccount {
  address: Hex;
  key: Hex;
}

/** anvil's own mnemonic and its first ten accounts: known to everyone, they hold play money only. */
export const MNEMONIC = "test test test test test test test test test test test junk";
export const ACCOUNTS = [
  {
    address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    key: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  },
  {
    address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    key: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  },
  {
    address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    key: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  },
  {
    address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    key: "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  },
  {
    address: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
    key: "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  },
  {
    address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    key: "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  },
  {
    address: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
    key: "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  },
  {
    address: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
    key: "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  },
  {
    address: "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
    key: "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  },
  {
    address: "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
    key: "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
  },
] as const satisfies readonly TestAccount[];

/** Each of the ten accounts starts with this much USDC: one million, in millionths. */
export const STARTING_USDC = 1_000_000_000_000n;

/** Circle's FiatTokenV2_2 behind its proxy, at the address USDC has on Base Sepolia. */
export const USDC: Hex = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const USDC_DECIMALS = 6;
export const USDC_DOMAIN = { name: "USDC", version: "2" } as const;

/** Canonical addresses, the same on every chain. */
export const CREATE2_DEPLOYER: Hex = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
export const PERMIT2: Hex = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
export const MULTICALL3: Hex = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** The x402 proxies' published addresses; behind them stand the project's own contracts (contracts/). */
export const EXACT_PERMIT2_PROXY: Hex = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001";
export const UPTO_PERMIT2_PROXY: Hex = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";

/** The project's own test contracts, at addresses chosen to be recognised. */
export const WALLET_FACTORY: Hex = "0x50cc0000000000000000000000000000000000f1";

/** Master minter, owner and the rest of USDC's roles, and the proxy's admin (which the token refuses as a
 * payer): neither is one of the ten accounts, and nobody holds a key for them. */
export const USDC_OPERATOR: Hex = "0x50cC0000000000000000000000000000000000a1";
export const USDC_PROXY_ADMIN: Hex = "0x50cc0000000000000000000000000000000000A2";
