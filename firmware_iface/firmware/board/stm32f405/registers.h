#pragma once

/* Registers of the STM32F405/407 used by the firmware. Section numbers are those of ST's reference
 * manual RM0090, for the Cortex-M4's own registers those of ST's programming manual PM0214. Only
 * register access uses volatile and numeric addresses. */

#include <stdint.h>

/* The tests define simulated registers instead. */
#ifndef REGISTER
typedef volatile uint32_t register_word;
#define REGISTER(address) (*(register_word*)(address))
#define BYTE_REGISTER(address) (*(volatile uint8_t*)(address))
#endif

/* Reset and clock control, RM0090 section 7.3 */
#define RCC_CR REGISTER(0x40023800U)
#define RCC_PLLCFGR REGISTER(0x40023804U)
#define RCC_CFGR REGISTER(0x40023808U)
#define RCC_AHB1ENR REGISTER(0x40023830U)
#define RCC_AHB2ENR REGISTER(0x40023834U)
#define RCC_APB1ENR REGISTER(0x40023840U)
#define RCC_APB2ENR REGISTER(0x40023844U)
#define RCC_CSR REGISTER(0x40023874U)

/* Flash interface and option bytes, RM0090 section 3.9 */
#define FLASH_ACR REGISTER(0x40023C00U)
#define FLASH_OPTKEYR REGISTER(0x40023C08U)
#define FLASH_SR REGISTER(0x40023C0CU)
#define FLASH_OPTCR REGISTER(0x40023C14U)

/* Pins, RM0090 section 8.4; base is one of GPIOA, GPIOB, GPIOC */
#define GPIOA 0x40020000U
#define GPIOB 0x40020400U
#define GPIOC 0x40020800U
#define GPIO_MODER(base) REGISTER((base) + 0x00U)
#define GPIO_OSPEEDR(base) REGISTER((base) + 0x08U)
#define GPIO_PUPDR(base) REGISTER((base) + 0x0CU)
#define GPIO_IDR(base) REGISTER((base) + 0x10U)
#define GPIO_BSRR(base) REGISTER((base) + 0x18U)
#define GPIO_AFRL(base) REGISTER((base) + 0x20U)
#define GPIO_AFRH(base) REGISTER((base) + 0x24U)

/* System configuration, RM0090 section 9.2 */
#define SYSCFG_EXTICR1 REGISTER(0x40013808U)

/* External interrupt lines, RM0090 section 12.3 */
#define EXTI_IMR REGISTER(0x40013C00U)
#define EXTI_RTSR REGISTER(0x40013C08U)
#define EXTI_FTSR REGISTER(0x40013C0CU)
#define EXTI_PR REGISTER(0x40013C14U)

/* Timers: TIM1 in RM0090 section 17.4, TIM2 to TIM5 in 18.4, TIM7 in 20.4 */
#define TIM1 0x40010000U
#define TIM2 0x40000000U
#define TIM3 0x40000400U
#define TIM4 0x40000800U
#define TIM5 0x40000C00U
#define TIM7 0x40001400U
#define TIM_CR1(base) REGISTER((base) + 0x00U)
#define TIM_SMCR(base) REGISTER((base) + 0x08U)
#define TIM_DIER(base) REGISTER((base) + 0x0CU)
#define TIM_SR(base) REGISTER((base) + 0x10U)
#define TIM_EGR(base) REGISTER((base) + 0x14U)
#define TIM_CCMR1(base) REGISTER((base) + 0x18U)
#define TIM_CCER(base) REGISTER((base) + 0x20U)
#define TIM_CNT(base) REGISTER((base) + 0x24U)
#define TIM_PSC(base) REGISTER((base) + 0x28U)
#define TIM_ARR(base) REGISTER((base) + 0x2CU)
#define TIM_CCR1(base) REGISTER((base) + 0x34U)
#define TIM_BDTR(base) REGISTER((base) + 0x44U)

/* Independent watchdog, RM0090 section 21.4 */
#define IWDG_KR REGISTER(0x40003000U)
#define IWDG_RLR REGISTER(0x40003008U)

/* Random number generator, RM0090 section 24.4 */
#define RNG_CR REGISTER(0x50060800U)
#define RNG_SR REGISTER(0x50060804U)
#define RNG_DR REGISTER(0x50060808U)

/* Serial lines, RM0090 section 30.6 */
#define USART1 0x40011000U
#define USART2 0x40004400U
#define USART_SR(base) REGISTER((base) + 0x00U)
#define USART_DR(base) REGISTER((base) + 0x04U)
#define USART_BRR(base) REGISTER((base) + 0x08U)
#define USART_CR1(base) REGISTER((base) + 0x0CU)
enum {
  USART_SR_ORE = 1 << 3,  /* a byte was lost */
  USART_SR_RXNE = 1 << 5, /* a byte was received */
  USART_SR_TXE = 1 << 7,  /* a byte can be written */
  USART_CR1_RE = 1 << 2,
  USART_CR1_TE = 1 << 3,
  USART_CR1_RXNEIE = 1 << 5,
  USART_CR1_TXEIE = 1 << 7,
  USART_CR1_UE = 1 << 13
};

/* Unique identity of the chip, 96 bits, RM0090 section 39.1 */
#define UNIQUE_ID(word) REGISTER(0x1FFF7A10U + 4U * (word))

/* Interrupt controller, PM0214 section 4.3 */
#define NVIC_ISER(interrupt) REGISTER(0xE000E100U + 4U * ((interrupt) / 32U))
#define NVIC_ISPR(interrupt) REGISTER(0xE000E200U + 4U * ((interrupt) / 32U))
#define NVIC_IPR(interrupt) BYTE_REGISTER(0xE000E400U + (interrupt))
/* Positions in the vector table, RM0090 section 12.2 */
#define INTERRUPT_USART1 37U
#define INTERRUPT_USART2 38U
#define INTERRUPT_TIM7 55U

/* System control block, PM0214 section 4.4 */
#define SCB_ICSR REGISTER(0xE000ED04U)
#define SCB_AIRCR REGISTER(0xE000ED0CU)
#define SCB_SHCSR REGISTER(0xE000ED24U)
#define SCB_SYSTICK_PRIORITY BYTE_REGISTER(0xE000ED23U)

/* System timer, PM0214 section 4.5 */
#define SYSTICK_CTRL REGISTER(0xE000E010U)
#define SYSTICK_LOAD REGISTER(0xE000E014U)
#define SYSTICK_VAL REGISTER(0xE000E018U)

enum { CORE_CLOCK_HZ = 168000000, USART1_CLOCK_HZ = 84000000 };

/* Enables an interrupt of a peripheral at a priority. */
static inline void enable_interrupt(uint32_t interrupt, uint8_t priority) {
  NVIC_IPR(interrupt) = priority;
  NVIC_ISER(interrupt) = 1U << (interrupt % 32U);
}
