#include "firmware_iface/firmware/serial.h"

#include "firmware_iface/firmware/board/board.h"
#include "firmware_iface/firmware/board/stm32f405/registers.h"
#include "firmware_iface/firmware/board/stm32f405/settings.h"
#include "firmware_iface/firmware/byte_ring.h"

enum {
  LINE_OPEN = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE,
  LINE_SENDING = LINE_OPEN | USART_CR1_TXEIE
};

static byte_ring from_host;
static byte_ring to_host;

void serial_start(void) {
  USART_BRR(USART1) = (USART1_CLOCK_HZ + BAUD_RATE / 2) / BAUD_RATE;
  USART_CR1(USART1) = LINE_OPEN;
  enable_interrupt(INTERRUPT_USART1, PRIORITY_SERIAL);
}

bool serial_take(uint8_t* byte) { return byte_ring_take(&from_host, byte); }

uint32_t serial_room(void) { return byte_ring_room(&to_host); }

void serial_put(uint8_t byte) { (void)byte_ring_put(&to_host, byte); }

/* Both this function and the interrupt write the whole register. The last write is always right,
 * because the interrupt checks the ring again. The interrupt is also set pending here, as the
 * emulated line never raises it for sending. */
void serial_send(void) {
  USART_CR1(USART1) = LINE_SENDING;
  NVIC_ISPR(INTERRUPT_USART1) = 1U << (INTERRUPT_USART1 % 32U);
}

/* An overrun raises the interrupt too. Reading the status and then the data clears it. */
void serial_interrupt(void) {
  const uint32_t status = USART_SR(USART1);
  if ((status & (USART_SR_RXNE | USART_SR_ORE)) != 0) {
    const uint8_t byte = (uint8_t)USART_DR(USART1);
    if ((status & USART_SR_RXNE) != 0) (void)byte_ring_put(&from_host, byte);
  }
  for (uint32_t k = 0; k < BYTE_RING_SIZE && (USART_SR(USART1) & USART_SR_TXE) != 0; ++k) {
    uint8_t byte;
    if (!byte_ring_take(&to_host, &byte)) {
      USART_CR1(USART1) = LINE_OPEN;
      break;
    }
    USART_DR(USART1) = byte;
  }
}
